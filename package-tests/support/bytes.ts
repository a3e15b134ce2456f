/** The texts of WebAssembly modules, as the build has embedded them. */
const from = async (path: string): Promise<Record<string, string>> =>
  import(new URL(`../../dist/${path}`, import.meta.url).href);

export const { coreBytes = '' } = await from('runtime/core-bytes.js');
export const { algorithmsBytes = '' } = await from('papers/algorithms/algorithms-bytes.js');
