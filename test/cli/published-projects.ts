import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../../src/process/find-program.ts';
import { areRealAgentsWanted, installPackage, packageFolder } from '../real/cached-package.ts';
import { git } from '../workspace/git/scratch-repository.ts';

/** What the agent of a setup says with its tool. */
export interface Proposal {
  readonly setup: string | null;
  readonly checks: readonly { readonly name: string; readonly run: string }[];
  readonly notes: string;
}

/** A project that was published with its own tests, and what an agent proposes for it. */
export interface PublishedProject {
  readonly language: string;
  /** Whether its files and the programs of its language are on this machine, or can be fetched. */
  readonly isHere: boolean;
  readonly files: () => Promise<string>;
  /** A command that does not pass. */
  readonly wrong: Proposal;
  readonly right: Proposal;
  /** What its own tests print. */
  readonly proof: RegExp;
}

/** GYP is published inside of node-gyp. */
const gyp = { name: 'node-gyp', version: '12.4.0' };
const hasGyp = (folder: string): boolean =>
  existsSync(path.join(folder, 'node_modules/node-gyp/gyp/pylib/gyp/common_test.py'));

/** From the Debian package golang-github-mitchellh-go-wordwrap-dev. */
const wordwrap = '/usr/share/gocode/src/github.com/mitchellh/go-wordwrap';

const programs = { cwd: '/', path: process.env.PATH ?? '' };
const has = async (program: string): Promise<boolean> => (await findProgram(program, programs)) !== null;

export const nodeProject: PublishedProject = {
  language: 'Node',
  isHere: true,
  // A dependency of a dependency.
  files: async () => path.resolve(import.meta.dirname, '../../node_modules/process-warning'),
  wrong: { setup: null, checks: [{ name: 'test', run: 'npm run no-such-script' }], notes: '' },
  right: {
    setup: 'node --check index.js',
    checks: [{ name: 'test', run: 'node --test --test-reporter=tap' }],
    notes: 'The tests run with `node --test`.',
  },
  proof: /^# pass [1-9]\d*$/m,
};

const pythonProject: PublishedProject = {
  language: 'Python',
  // Needs a download of a few megabytes, as the real agents do.
  isHere: (await has('python3')) && (areRealAgentsWanted() || hasGyp(packageFolder(gyp))),
  files: async () => {
    await installPackage(gyp, hasGyp);
    return path.join(packageFolder(gyp), 'node_modules/node-gyp/gyp');
  },
  wrong: { setup: null, checks: [{ name: 'test', run: 'python3 -m unittest no_such_module' }], notes: '' },
  right: {
    setup: 'python3 -m compileall -q pylib',
    checks: [{ name: 'test', run: "python3 -m unittest discover -s pylib -t pylib -p '*_test.py'" }],
    notes: 'The tests are next to the modules, as `*_test.py`.',
  },
  proof: /^Ran [1-9]\d* tests/m,
};

const goProject: PublishedProject = {
  language: 'Go',
  isHere: (await has('go')) && existsSync(wordwrap),
  files: async () => wordwrap,
  wrong: { setup: null, checks: [{ name: 'test', run: 'go test ./no-such-folder/...' }], notes: '' },
  right: {
    setup: 'go build ./...',
    checks: [
      { name: 'test', run: 'go test ./...' },
      { name: 'vet', run: 'go vet ./...' },
    ],
    notes: 'The module has no dependencies.',
  },
  proof: /^ok\s+github\.com\/mitchellh\/go-wordwrap/m,
};

export const publishedProjects = [nodeProject, pythonProject, goProject] as const;

/** Commits the files of a published project in a repository of a test. */
export async function commitFilesOf({ files }: PublishedProject, source: string): Promise<void> {
  const from = await files();
  cpSync(from, source, {
    recursive: true,
    filter: (each) => path.basename(each) !== 'node_modules' || each === from,
  });
  git(source, 'add', '--all', '--force');
  git(source, 'commit', '--quiet', '--message', 'The project');
}
