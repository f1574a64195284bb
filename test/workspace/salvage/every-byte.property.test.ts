import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Git } from '../../../src/workspace/git/git.ts';
import { runs } from '../../property-runs.ts';
import { contentsOf, gitIn, makeRepository, requestFor, salvageScene, savedBy } from './salvage-scene.ts';

/** Difficult names as bytes, one character per byte. */
const names = [
  'a.txt',
  'b.log',
  'dir/c.txt',
  'dir/d.u16',
  '-n',
  'sp ace',
  'line\nend',
  'caf\u00e9',
  '\u00ff\u00fe',
  ':(top)x',
  '"q"',
  'e.id',
  'f.f',
];
const name = fc.constantFrom(...names);

const content = fc.oneof(
  fc.constantFrom(
    '',
    'text\n',
    'dos\r\n',
    'mixed\r\n\n',
    '$Id$',
    '$Id: x $\n',
    '\u00ff\u00fea\u0000',
    'ref: refs/heads/main\n',
  ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const ignoreRules = fc.constantFrom('', '*.log\n', 'dir/\n', '*\n!.gitignore\n', '/a.txt\n');
const attributes = fc.constantFrom(
  '* text=auto\n',
  '*.txt eol=crlf\n',
  '*.u16 working-tree-encoding=UTF-16LE-BOM\n',
  '*.id ident\n*.f filter=none\n',
  '* -text\n',
);

type Step =
  | { readonly does: 'write' | 'program' | 'link' | 'conflict'; readonly name: string; readonly content: string }
  | { readonly does: 'remove' | 'add' | 'force' | 'hide' | 'skip' | 'rename' | 'folder'; readonly name: string }
  | { readonly does: 'ignore' | 'attributes'; readonly content: string }
  | { readonly does: 'commit' | 'stash' | 'reset' | 'branch' | 'detach' | 'amend' | 'nest' | 'gc' | 'addAll' | 'tag' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constantFrom('write', 'write', 'program', 'link', 'conflict'), name, content }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom('remove', 'add', 'force', 'hide', 'skip', 'rename', 'folder'), name }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('ignore' as const), content: ignoreRules }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('attributes' as const), content: attributes }) },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constantFrom(
        ...([
          'commit',
          'commit',
          'stash',
          'reset',
          'branch',
          'detach',
          'amend',
          'nest',
          'gc',
          'addAll',
          'tag',
        ] as const),
      ),
    }),
  },
);

/** A step that git refuses in this state is skipped. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // Not possible in this state.
  }
}

function perform(workspace: string, taken: Step, number: number): void {
  const at = (each: string): Buffer => Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from(each, 'latin1')]);
  // Arguments of a program must be text, so names go through a file.
  const onName = (each: string, ...args: string[]): void => {
    const list = `${workspace}-names`;
    writeFileSync(list, Buffer.from(`:(literal,top)${each}\0`, 'latin1'));
    gitIn(workspace, ...args, `--pathspec-from-file=${list}`, '--pathspec-file-nul');
  };
  const flag = (each: string, option: string): void =>
    void execFileSync('git', ['update-index', option, '-z', '--stdin'], {
      cwd: workspace,
      input: Buffer.from(`${each}\0`, 'latin1'),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  attempt(() => {
    switch (taken.does) {
      case 'write':
      case 'program':
      case 'link': {
        const file = at(taken.name);
        const folder = taken.name.includes('/') ? at(taken.name.slice(0, taken.name.lastIndexOf('/'))) : at('');
        mkdirSync(folder, { recursive: true });
        if (taken.does === 'link' && taken.content !== '' && !taken.content.includes('\0')) {
          rmSync(file, { force: true, recursive: true });
          symlinkSync(Buffer.from(taken.content, 'latin1'), file);
        } else {
          rmSync(file, { force: true });
          writeFileSync(file, Buffer.from(taken.content, 'latin1'));
          chmodSync(file, taken.does === 'program' ? 0o755 : 0o644);
        }
        return;
      }
      case 'conflict':
        return makeConflict(workspace, taken.name, taken.content);
      case 'tag':
        return void gitIn(workspace, 'tag', '-a', '-m', `tag ${number}`, `tag-${number}`);
      case 'remove':
        return rmSync(at(taken.name), { recursive: true });
      case 'rename':
        return renameSync(at(taken.name), at(`${taken.name}.moved`));
      case 'folder':
        rmSync(at(taken.name), { recursive: true, force: true });
        mkdirSync(at(taken.name));
        return writeFileSync(at(`${taken.name}/inside`), 'inside');
      case 'add':
        return onName(taken.name, 'add');
      case 'force':
        return onName(taken.name, 'add', '-f');
      case 'hide':
        return flag(taken.name, '--assume-unchanged');
      case 'skip':
        return flag(taken.name, '--skip-worktree');
      case 'ignore':
        return writeFileSync(at('.gitignore'), taken.content);
      case 'attributes':
        return writeFileSync(at('.gitattributes'), taken.content);
      case 'addAll':
        return void gitIn(workspace, 'add', '-A');
      case 'commit':
        return void gitIn(workspace, 'commit', '-qam', `commit ${number}`);
      case 'amend':
        return void gitIn(workspace, 'commit', '-qa', '--amend', '-m', `amended ${number}`);
      case 'stash':
        return void gitIn(workspace, 'stash', '-u');
      case 'reset':
        return void gitIn(workspace, 'reset', '-q', '--hard', 'HEAD~1');
      case 'branch':
        return void gitIn(workspace, 'checkout', '-q', '-b', `branch-${number}`);
      case 'detach':
        return void gitIn(workspace, 'checkout', '-q', '--detach', 'HEAD');
      case 'gc':
        return void gitIn(workspace, 'gc', '-q');
      case 'nest':
        return makeRepository(path.join(workspace, `nested-${number % 2}`), { 'n.txt': `${number}` });
    }
  });
}

/** Puts a file into conflict with sides that are in no commit. */
function makeConflict(workspace: string, file: string, content: string): void {
  const ask = (args: string[], input: Buffer): string =>
    execFileSync('git', args, { cwd: workspace, input, encoding: 'latin1', stdio: ['pipe', 'pipe', 'ignore'] }).trim();
  const sides = [1, 2, 3].map((side) => {
    const id = ask(['hash-object', '-w', '--stdin'], Buffer.from(`${side} ${content}`, 'latin1'));
    return `100644 ${id} ${side}\t${file}\0`;
  });
  ask(['update-index', '-z', '--index-info'], Buffer.from(`0 ${'0'.repeat(40)}\t${file}\0${sides.join('')}`, 'latin1'));
}

interface WorthKeeping {
  readonly files: Map<string, string>;
  readonly commits: string[];
  readonly staged: string | null;
  /** Git's output about tags and files in conflict. */
  readonly tags: string;
  readonly unmerged: string;
}

/** Everything of one repository that must not be lost, read with git itself, file by file and commit by commit. */
function worthKeeping(folder: string): WorthKeeping {
  // A fresh index, so that flags in the real one hide nothing and files tracked by HEAD count too.
  const named = (...args: string[]): string[] =>
    gitIn(folder, ...args)
      .split('\0')
      .filter((each) => each !== '');
  const tracked = named('ls-files', '-z');
  const inHead = named('ls-tree', '-r', '-z', '--name-only', 'HEAD');
  const untracked = named('ls-files', '-z', '-o', '--exclude-standard');
  const all = contentsOf(folder);
  const files = new Map<string, string>();
  for (const each of [...tracked, ...inHead, ...untracked]) {
    const bytes = all.get(each);
    if (bytes !== undefined && !isInNested(folder, each)) files.set(each, bytes);
  }
  const past = gitIn(folder, 'reflog', '--format=%H').split('\n');
  const stashes = gitIn(folder, 'stash', 'list', '--format=%H').split('\n');
  const commits = gitIn(folder, 'rev-list', '--all', 'HEAD').split('\n');
  return {
    files,
    commits: [...new Set([...past, ...stashes, ...commits])].filter((each) => each !== ''),
    staged: stagedIn(folder),
    ...tagsAndConflicts(folder),
  };
}

function tagsAndConflicts(folder: string): Pick<WorthKeeping, 'tags' | 'unmerged'> {
  return { tags: gitIn(folder, 'for-each-ref', 'refs/tags'), unmerged: gitIn(folder, 'ls-files', '-u', '-z') };
}

/** The staged tree; null when nothing is staged. */
function stagedIn(folder: string): string | null {
  let tree: string | null = null;
  attempt(() => {
    tree = gitIn(folder, 'write-tree');
  });
  return tree;
}

function isInNested(folder: string, file: string): boolean {
  const parts = file.split('/');
  return parts.slice(0, -1).some((_part, depth) => {
    const at = Buffer.concat([
      Buffer.from(`${folder}/`),
      Buffer.from(`${parts.slice(0, depth + 1).join('/')}/.git`, 'latin1'),
    ]);
    try {
      return lstatSync(at) !== undefined;
    } catch {
      return false;
    }
  });
}

/** A git that dies at one of its calls, like a daemon that is killed there. */
function dyingGit(at: { left: number }): (git: Git) => Git {
  const dies = (): void => {
    at.left -= 1;
    if (at.left === 0) throw new Error('killed');
  };
  return (git) => ({
    run: async (call) => {
      dies();
      return git.run(call);
    },
    ask: async (call) => {
      dies();
      return git.ask(call);
    },
  });
}

// @conforms git.20
it('every byte of every file that is not ignored, every commit and all staged work is found again in the salvage', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 25 }),
      fc.boolean(),
      fc.nat({ max: 25 }),
      async (steps, local, dieAt) => {
        const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-every-byte-')));
        try {
          const at = { left: dieAt };
          const { salvage, workspace, source, places } = salvageScene({ folder, local, around: dyingGit(at) });
          makeRepository(source, { 'a.txt': 'one\n', 'dir/c.txt': 'c\n' });
          rmSync(workspace, { recursive: true });
          gitIn(folder, 'clone', '-q', source, workspace);
          for (const [number, taken] of steps.entries()) perform(workspace, taken, number);
          const nested = ['nested-0', 'nested-1'].filter((each) => {
            try {
              return lstatSync(path.join(workspace, each, '.git')).isDirectory();
            } catch {
              return false;
            }
          });
          const wanted = ['', ...nested].map((within) => ({ within, ...worthKeeping(path.join(workspace, within)) }));
          const before = contentsOf(workspace);

          let result = await salvage.save(requestFor(workspace)).catch(() => null);
          result ??= await salvage.save(requestFor(workspace));
          at.left = 0;
          expect(contentsOf(workspace)).toEqual(before);
          const again = await salvage.save(requestFor(workspace));
          expect(again).toEqual(result);
          const works = result.outcome === 'saved' ? savedBy(result) : [];
          expect((await salvage.list()).length).toBe(works.length);
          rmSync(workspace, { recursive: true });

          for (const { within, files, commits, staged, tags, unmerged } of wanted) {
            const work = works.find((each) => each.within === within);
            const restored = path.join(folder, `restored-${within}`);
            if (work === undefined) gitIn(folder, 'clone', '-q', source, restored);
            else await salvage.restore(work, restored);
            const found = contentsOf(restored);
            for (const [each, bytes] of files) expect([each, found.get(each)]).toEqual([each, bytes]);
            if (work !== undefined && staged !== null) expect(stagedIn(restored)).toBe(staged);
            expect(tagsAndConflicts(restored)).toEqual({ tags, unmerged });
            const homes = [source, places.salvage].filter((home) => attemptGit(home));
            const held = new Set(homes.flatMap((home) => gitIn(home, 'rev-list', '--all').split('\n')));
            expect(commits.filter((each) => !held.has(each))).toEqual([]);
          }
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    {
      numRuns: runs(25),
      ...(process.env.BATON_PROPERTY_SEED === undefined ? {} : { seed: Number(process.env.BATON_PROPERTY_SEED) }),
    },
  );
}, 600_000);

function attemptGit(home: string): boolean {
  try {
    return lstatSync(home).isDirectory();
  } catch {
    return false;
  }
}
