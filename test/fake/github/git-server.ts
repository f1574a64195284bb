import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Serves the repositories of a folder with git's own program, as GitHub does over HTTPS. */
export function serveGit(root: string, request: IncomingMessage, response: ServerResponse, user: string): void {
  const url = new URL(request.url ?? '', 'http://localhost');
  const program: ChildProcessWithoutNullStreams = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: user,
      REMOTE_ADDR: '127.0.0.1',
      GIT_COMMITTER_NAME: user,
      GIT_COMMITTER_EMAIL: `${user}@example.invalid`,
    },
  });
  program.on('error', () => response.destroy());
  program.stderr.resume();
  program.stdin.on('error', () => {});
  request.pipe(program.stdin);
  let head = Buffer.alloc(0);
  let isHeadSent = false;
  program.stdout.on('data', (piece: Buffer) => {
    if (isHeadSent) {
      response.write(piece);
      return;
    }
    head = Buffer.concat([head, piece]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    isHeadSent = true;
    let status = 200;
    for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
      const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else if (name !== '') response.setHeader(name, value);
    }
    response.writeHead(status);
    response.write(head.subarray(end + 4));
  });
  program.stdout.on('end', () => response.end());
}
