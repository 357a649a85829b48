/** Returns the words of a search. White space of any kind separates them; a text without a word has none. */
export function wordsOf (text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
