/** Loads the text of the tables and functions, which only few processes need. See load.ts for `eager`. */
export async function schema(): Promise<string> {
  const { SCHEMA } = await import(/* webpackMode: "eager" */ '../postgres/schema-source.js');
  return SCHEMA;
}
