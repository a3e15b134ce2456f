/** Each environment runs the same file. */
const environments = ['jsdom', 'happy-dom', 'edge-runtime'];

export default {
  test: {
    projects: environments.map((environment) => ({
      test: { name: environment, environment, globals: true, include: ['pages/page.test.js'] },
    })),
  },
};
