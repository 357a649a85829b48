/**
 * Imports a module whose name is only known at run time, or whose package might not be installed.
 *
 * @param specifier  a package or a URL
 */
export async function importModule<Module> (specifier: string): Promise<Module> {
  return await import(specifier)
}
