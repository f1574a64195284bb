// @module-tag full
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyProject, lendPackages, makeFolder, projectRoot, removeFolder } from './project-copy.ts';
import { type Ended, findOldNode, findOnPath, pathStartingWith, plainEnv, runProgram } from './run-program.ts';

const folder = makeFolder();
const env = plainEnv({ PATH: pathStartingWith(process.execPath), BATON_CACHE_DIR: path.join(folder, 'cache') });
const { version } = JSON.parse(fs.readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
const installed = path.join(folder, 'app/node_modules/baton');
afterAll(() => removeFolder(folder));

describe('the published package', () => {
  beforeAll(async () => {
    const clone = path.join(folder, 'clone');
    copyProject(clone);
    lendPackages(clone);
    await npm(['pack', '--pack-destination', folder], clone);
    const app = path.join(folder, 'app');
    fs.mkdirSync(app);
    // Without one npm looks for a project further up.
    fs.writeFileSync(path.join(app, 'package.json'), '{ "private": true }\n');
    await npm(['install', '--prefer-offline', path.join(folder, `baton-${version}.tgz`)], app);
  }, 120_000);

  it('contains only the built program', () => {
    const files = fs.readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const top = new Set(files.map((file) => file.split(path.sep)[0]));
    expect([...top].filter((name) => !['dist', 'package.json', 'README.md', 'LICENSE'].includes(name ?? ''))).toEqual(
      [],
    );
    expect(files.filter((file) => /\.tsx?$|\.test\.|(^|\/)test\//.test(file))).toEqual([]);
    // The scripted agent is a separate program, started by its path.
    for (const program of ['dist/baton.js', 'dist/agent/rehearsal/program.js']) expect(files).toContain(program);
  });

  // @conforms toolchain.6
  it('provides a working `baton`', async () => {
    const baton = path.join(folder, 'app/node_modules/.bin/baton');
    const ended = await runProgram(baton, ['--version'], { cwd: folder, env });
    expect(ended).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
    expect(await runProgram(baton, ['--no-such-flag'], { cwd: folder, env })).toMatchObject({ code: 2 });
  });

  it('reports a Node that is too old', async (context) => {
    const oldNode = findOldNode();
    if (oldNode === null) return context.skip('no Node older than 24 on PATH');
    const ended = await runProgram(oldNode, [path.join(installed, 'dist/baton.js'), '--version'], { cwd: folder, env });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^baton: Node \d+\.\d+\.\d+ is too old\. Install Node 24 or newer\.\n$/);
  });
});

async function npm(args: readonly string[], cwd: string): Promise<Ended> {
  const ended = await runProgram(findOnPath('npm'), [...args, '--no-audit', '--no-fund'], { cwd, env });
  if (ended.code !== 0) throw new Error(`npm ${args[0]} failed:\n${ended.stdout}${ended.stderr}`);
  return ended;
}
