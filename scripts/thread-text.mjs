/**
 * A configuration of rolldown that writes the program of a thread as a text into a file of TypeScript. The library
 * starts its own threads from such texts: a bundler of the user would not find a file that only a new thread loads.
 * No option of rolldown writes a text.
 */
export const threadText = (input, file) => ({
  input,
  platform: 'node',
  logLevel: 'warn',
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  plugins: [
    {
      name: 'text-of-a-thread',
      generateBundle(_options, bundle) {
        for (const chunk of Object.values(bundle))
          chunk.code = `// Made from ${input}.\nexport const SOURCE = ${JSON.stringify(chunk.code.trim())};\n`;
      },
    },
  ],
  // The text of a worker is no module.
  output: { file, format: 'cjs', minify: true, comments: false, codeSplitting: false },
});
