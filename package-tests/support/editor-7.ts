/** What an editor with TypeScript 7 shows of a name. TypeScript 7 has no functions for this: editors ask its server. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** Returns what is shown at each of these positions of a file, in Markdown. */
export async function shownByTypeScript7(file: string, positions: readonly number[]): Promise<string[]> {
  const compiler = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc');
  const server = spawn(process.execPath, [compiler, '--lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waits = new Map<number, (message: Message) => void>();
  const send = (message: Message): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const receive = (message: Message): void => {
    if (message.id === undefined) return;
    // The server asks for settings. There are none.
    if (message.method) send({ id: message.id, result: null });
    else waits.get(message.id)?.(message);
  };
  let rest = Buffer.alloc(0);
  server.stdout.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (let head = headOf(rest); head && rest.length >= head.end + head.length; head = headOf(rest)) {
      receive(JSON.parse(rest.toString('utf8', head.end, head.end + head.length)) as Message);
      rest = rest.subarray(head.end + head.length);
    }
  });
  let asked = 0;
  const ask = async (method: string, params: unknown): Promise<unknown> => {
    const id = ++asked;
    const answered = new Promise<Message>((resolve) => waits.set(id, resolve));
    send({ id, method, params });
    return (await answered).result;
  };
  try {
    const uri = pathToFileURL(file).href;
    const text = readFileSync(file, 'utf8');
    const capabilities = { textDocument: { hover: { contentFormat: ['markdown'] } } };
    await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(dirname(file)).href, capabilities });
    send({ method: 'initialized', params: {} });
    send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'typescript', version: 1, text } },
    });
    const shown: string[] = [];
    for (const at of positions) {
      const before = text.slice(0, at).split('\n');
      const position = { line: before.length - 1, character: before.at(-1)?.length };
      const answer = (await ask('textDocument/hover', { textDocument: { uri }, position })) as {
        contents?: { value?: string };
      } | null;
      shown.push(answer?.contents?.value ?? '');
    }
    return shown;
  } finally {
    server.kill();
  }
}

/** Returns where the head of a message ends, and how long the message behind it is; undefined until the head has come. */
function headOf(bytes: Buffer): { readonly end: number; readonly length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [, length] = /Content-Length: (\d+)/.exec(bytes.toString('utf8', 0, end)) ?? [];
  return { end: end + 4, length: Number(length) };
}
