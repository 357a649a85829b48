/**
 * Imports a module whose name is only known at run time, or whose package might not be installed.
 *
 * @param specifier  a package, a URL, or a path relative to this file
 */
export async function importModule<Module> (specifier: string): Promise<Module> {
  return await import(specifier)
}
