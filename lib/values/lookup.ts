/** Returns the names of an object's own properties. The object must have only those that its type declares. */
export function keysOf<Table extends object> (table: Table): ReadonlyArray<keyof Table & string> {
  return Object.keys(table) as Array<keyof Table & string>
}

/** Returns the value of a key, which the map must have. Throws RangeError if the map does not have it. */
export function valueAt<Key, Value> (map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new RangeError('A map lacks a key that it must have')
  return value
}

/** Returns the last item of a list, which must not be empty. Throws RangeError if the list is empty. */
export function lastOf<Item> (list: readonly Item[]): Item {
  return itemAt(list, list.length - 1)
}

/** Returns the item at a position, which the list must have. Throws RangeError if the list does not have it. */
export function itemAt<Item> (list: readonly Item[], index: number): Item {
  const item = list[index]
  if (item === undefined) throw new RangeError(`A list of ${list.length} items has none at position ${index}`)
  return item
}
