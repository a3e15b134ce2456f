/** Makes the default arena in the main thread of Jest, from which the threads of Jest inherit it. */
module.exports = () => void require('taketurns').Arena.default;
