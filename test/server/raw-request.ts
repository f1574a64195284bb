import { request } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** One request with exactly these headers, also those that `fetch` does not allow. */
export function send(port: number, { method = 'GET', path = '/', headers = {}, body }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Bytes on a connection of their own, and everything that comes back until it ends. */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = connect(port, '127.0.0.1', () => connection.write(bytes));
    let heard = '';
    connection.on('data', (chunk) => {
      heard += chunk;
    });
    connection.on('error', () => resolve(heard));
    connection.on('close', () => resolve(heard));
  });
}
