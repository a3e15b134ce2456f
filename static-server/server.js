/**
 * Serves a folder to browsers, with the headers that shared memory needs. The lab, the suite in browsers and the tests
 * of the package use it.
 */
import { createServer } from 'node:http';
import sirv from 'sirv';

export const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export async function serve(folder, options = {}) {
  const { port = 0, host = '127.0.0.1', headers = ISOLATED, tries = 1, onPost } = options;
  // In development mode sirv reads the folder at each request, so that a page that is built again is served.
  const sendFile = sirv(folder, {
    dev: true,
    etag: true,
    onNoMatch: (_request, response) => response.writeHead(404).end('not found'),
  });
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    // The answer to a request for a part of a file is the whole file, because sirv throws an error if the part ends
    // before it begins.
    delete request.headers.range;
    if (request.method === 'POST' && onPost) post(request, response, onPost);
    else sendFile(request, response);
  });
  const listening = await listen(server, port, host, tries);
  return {
    port: listening,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function post(request, response, onPost) {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    response.end();
    onPost(body);
  });
}

/** Listens on the first free port of `tries` ports, and resolves to the number of this port. */
function listen(server, first, host, tries) {
  return new Promise((resolve, reject) => {
    let port = first;
    server.on('error', (error) => {
      if (error.code === 'EADDRINUSE' && port + 1 < first + tries) server.listen(++port, host);
      else reject(error);
    });
    server.listen(port, host, () => resolve(server.address().port));
  });
}
