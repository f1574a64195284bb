// @module-tag full
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { shell } from '../../fake/openai/scenario.ts';
import { describeIsolated } from '../../security/machine.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { readWorkspace, useCodexScenes } from './codex-scene.ts';

/** The sandbox of Codex as an agent has it that may use the network and a package cache. */
const confined = (cache: string) => ({
  threadSandbox: 'workspace-write' as const,
  turnSandboxPolicy: {
    type: 'workspaceWrite',
    writableRoots: [cache],
    networkAccess: true,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  },
});

/** A registry of npm with one package, `tiny`, on this machine. */
async function startRegistry(folder: string): Promise<string> {
  mkdirSync(path.join(folder, 'package'), { recursive: true });
  const manifest = { name: 'tiny', version: '1.0.0', main: 'index.js' };
  writeFileSync(path.join(folder, 'package/package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'package/index.js'), 'module.exports = 42;\n');
  execFileSync('tar', ['-czf', 'tiny.tgz', 'package'], { cwd: folder });
  const archive = readFileSync(path.join(folder, 'tiny.tgz'));
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const server: Server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const dist = { tarball: `http://127.0.0.1:${port}/tiny/-/tiny-1.0.0.tgz`, integrity };
    const document = { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } };
    if (request.url === '/tiny') response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    else if (request.url === '/tiny/-/tiny-1.0.0.tgz') response.end(archive);
    else response.writeHead(404).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const test = `const { test } = require('node:test'); const assert = require('node:assert');
test('has its dependency', () => assert.equal(require('tiny'), 42));\n`;

await describeWithCodex('the sandbox of a real Codex in isolation', (codex) => {
  const makeScene = useCodexScenes(codex);
  describeIsolated('an agent with a small project', { timeout: 120_000 }, () => {
    it('installs a package, runs the tests and commits, and sees no key of the person', async () => {
      const work = [
        'npm install --no-audit --no-fund --loglevel=error tiny > install.log 2>&1; echo "install $?" > results',
        'node --test > test.log 2>&1; echo "test $?" >> results',
        'git add -A && git -c user.name=A -c user.email=a@example.org commit -qm made; echo "commit $?" >> results',
        'cat ../user-home/.ssh/key ../state/token; touch ../outside; echo "key $?" >> results',
        'cat results',
      ].join('\n');
      const scene = await makeScene({
        isIsolated: true,
        scenario: { otherwise: [{ calls: [shell(work)] }, { message: ({ lastOutput }) => lastOutput }] },
      });
      const registry = await startRegistry(path.join(scene.folder, 'registry'));
      const cache = path.join(scene.folder, 'user-home/.npm');
      for (const file of ['user-home/.ssh/key', 'user-home/.npm/kept', 'state/token']) {
        mkdirSync(path.dirname(path.join(scene.folder, file)), { recursive: true });
        writeFileSync(path.join(scene.folder, file), 'canary\n');
      }
      const project = { name: 'project', version: '1.0.0', private: true };
      writeFileSync(path.join(scene.workspace, 'package.json'), JSON.stringify(project));
      writeFileSync(path.join(scene.workspace, 'it.test.js'), test);
      writeFileSync(path.join(scene.workspace, '.npmrc'), `registry=${registry}\n`);
      writeFileSync(path.join(scene.workspace, '.gitignore'), 'node_modules\n*.log\nresults\n');
      const gitDirectory = path.join(scene.folder, 'git-directories', 'one');
      mkdirSync(path.dirname(gitDirectory));
      execFileSync('git', ['init', '-q', '--separate-git-dir', gitDirectory, scene.workspace]);
      const { complete } = await scene.open({ writableRoots: [gitDirectory] }, confined(cache));
      const said = await complete('Do it.');
      const logs = ['install.log', 'test.log'].map((each) => readWorkspace(scene, each)).join('\n');
      expect(readWorkspace(scene, 'results'), `${said}\n${logs}`).toBe('install 0\ntest 0\ncommit 0\nkey 1\n');
      expect(said).not.toContain('canary');
      expect(existsSync(path.join(scene.folder, 'outside'))).toBe(false);
      // What it wrote into the cache was in a layer of its own.
      expect(readdirSync(cache)).toEqual(['kept']);
      const subjects = execFileSync('git', ['log', '--format=%s'], { cwd: scene.workspace, encoding: 'utf8' });
      expect(subjects).toBe('made\n');
    });
  });
});
