/**
 * Returns the address of another file of the package, which stands beside the file `here` and is of the same form: in
 * dist/node/ the files are of CommonJS.
 */
export function beside(name: string, here: string): URL {
  return new URL(`${name}.${here.endsWith('.cjs') ? 'cjs' : 'js'}`, here);
}
