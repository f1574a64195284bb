import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSource } from '../../../src/workspace/git/source/read-source.ts';
import { sourceAddress } from '../../../src/workspace/git/source/source-address.ts';
import { rejection } from '../scratch-folder.ts';
import { scratchGit } from './examine-scene.ts';

const repo = (location: string) => ({ location, shown: location.replace(/\/\/[^@]*@/, '//'), isLocal: false });

describe('the address of a source', () => {
  it.each([
    ['https://git.example/r.git', 'https://git.example/r.git', 0],
    ['https://bot@git.example/r.git', 'https://bot@git.example/r.git', 0],
    ['https://bot:p%40ss@git.example:8443/r.git', 'https://git.example:8443/r.git', 1],
    ['https://token-of-twenty-and-more@git.example/r.git', 'https://git.example/r.git', 1],
    ['ssh://git@git.example/r.git', 'ssh://git@git.example/r.git', 0],
    ['/a/path@with:colon', '/a/path@with:colon', 0],
  ])('%s is passed to git as %s', (location, url, secrets) => {
    const address = sourceAddress(repo(location));
    expect(address.url).toBe(url);
    expect(address.secretSettings).toHaveLength(secrets);
  });

  // @conforms git.43
  it('keeps its password out of the list of processes, and the server still gets it', async () => {
    const seen: (string | undefined)[] = [];
    const listed: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      // Git and its helper both run now.
      listed.push(...commandLines());
      response.writeHead(403).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const secret = repo(`http://bot:hunter2-secret@127.0.0.1:${port}/r.git`);
    const error = await rejection(readSource(scratchGit(), { repo: secret, base: null, branches: [] }));
    expect(seen).toContain(`Basic ${Buffer.from('bot:hunter2-secret').toString('base64')}`);
    expect(listed.some((line) => line.includes('ls-remote'))).toBe(true);
    expect(listed.filter((line) => line.includes('hunter2'))).toEqual([]);
    expect(JSON.stringify([error.message, error.details])).not.toContain('hunter2');
  });
});

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(path.join('/proc', pid, 'cmdline'), 'utf8')];
      } catch {
        return [];
      }
    });
}
