import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { gitConfigurationText } from '../../src/daemon/git-configuration.ts';
import { patchFacts, readRaw, splitPatch } from '../../src/daemon/services/diff/diff-text.ts';
import { createGithub } from '../../src/github/github.ts';
import { githubAddress, readRepository, repositoryOfUrl } from '../../src/github/github-address.ts';
import type { HttpClient } from '../../src/http/http.ts';
import { githubBranches } from '../../src/pulls/github/github-branches.ts';
import { createGithubPulls, type GithubPullsParts } from '../../src/pulls/github/github-host.ts';
import { makeMerge } from '../../src/pulls/local/make-merge.ts';
import { observeMerge } from '../../src/pulls/local/observe-merge.ts';
import { identityOf } from '../../src/pulls/local/person-identity.ts';
import { mergeabilityOf, type Workbench } from '../../src/pulls/local/workbench.ts';
import type { Git, GitAnswer } from '../../src/workspace/git/git.ts';
import { readGitDirectory } from '../../src/workspace/git/read/read-git-directory.ts';
import { readPast } from '../../src/workspace/git/read/read-tips.ts';
import { readSource } from '../../src/workspace/git/source/read-source.ts';
import { soundsDamaged } from '../../src/workspace/git/source/source-errors.ts';
import { readBranch, readBranches } from '../../src/workspace/git/source/source-repository.ts';
import { missingIn } from '../../src/workspace/salvage/history.ts';
import { objectsIn, savedCommits } from '../../src/workspace/salvage/saved-commits.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';
import { mergeOf, pullOf } from '../pulls/pull-scene.ts';
import { expectCatalogued, type FuzzTarget } from './run-fuzz.ts';

const id = 'a1'.repeat(20);
const other = 'b2'.repeat(20);

/** Tries each; a refusal of one does not keep the next from being tried. */
async function tryAll(reads: readonly (() => unknown)[]): Promise<void> {
  for (const read of reads) await Promise.resolve().then(read).catch(expectCatalogued);
}

/** What git prints about objects that an agent wrote: every call answers with the input. */
export function gitOutput(): FuzzTarget {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-fuzz-git-'));
  const repo = { location: folder, shown: folder, isLocal: true };
  const target = { gitDir: folder, isOurs: false, caches: [], mostBytes: 1 } as unknown as Parameters<
    typeof missingIn
  >[1]['target'];
  return {
    name: 'git-output',
    share: 8,
    corpus: [
      // merge-tree, for-each-ref, rev-list, ls-remote, log, cat-file, diff, config.
      `${id}\0src/a.txt\0src/b.txt\0`,
      `refs/heads/work\0${id}\0/w/one\0\n`,
      `${id} refs/heads/work\n${other} refs/heads/main\n`,
      `${id} ${other}\n-${other}\n`,
      `ref: refs/heads/main\tHEAD\n${id}\tHEAD\n${id}\trefs/heads/work\n`,
      `tree ${id}\nparent ${other}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding latin1\n\nwords\n`,
      `${id} commit 12\ntree x\n\nhey\n\n${other} missing\n`,
      `${id} commit -50\ntree x\n`,
      `:100644 100644 ${id} ${other} M\0src/a.txt\0:100644 100644 ${id} ${other} R090\0old\0new\0`,
      'diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\ndiff --git a/b b/b\n',
      'user.name\nA Person\0filter.lfs.clean\ngit-lfs clean -- %f\0core.autocrlf\0',
      `${id}\0A Person\n`,
      '!\trefs/heads/work\t[rejected] (stale info)\n',
    ],
    run: async (input) => {
      const bytes = input.toString('latin1');
      const answer: GitAnswer = { code: [0, 1, 128][input.length % 3] ?? 0, stdout: bytes, stderr: bytes };
      const git: Git = { ask: async () => answer, run: async () => bytes };
      const bench = {
        ...git,
        objects: folder,
        once: (_question: string, compute: () => Promise<unknown>) => compute(),
        refuseBomb: async () => {},
        keep: async () => {},
      } as unknown as Workbench;
      const files = readRaw(bytes);
      splitPatch(bytes, files);
      patchFacts(bytes, 1_000);
      gitConfigurationText(input.toString());
      soundsDamaged(bytes);
      [...objectsIn(bytes)];
      const plan = { pull: { identifier: 'T-1', title: bytes, body: bytes, number: 1 }, base: id, head: other, at: 0 };
      const identity = { name: bytes, email: 'a@b' };
      const seen = { head: other, base: 'main', baseCommit: id, earlierBase: null } as unknown as Parameters<
        typeof observeMerge
      >[1];
      const store = { objects: folder, borrowed: [] };
      const branches = githubBranches({
        ...{ git, address, repository, credential },
      });
      await tryAll([
        () => mergeabilityOf(bench, other, id),
        () => makeMerge(bench, { ...plan, method: 'merge', identity }),
        () => makeMerge(bench, { ...plan, method: 'rebase', identity }),
        () => observeMerge(bench, seen, { git, common: folder }),
        () => identityOf({ by: { kind: 'person', name: 'ada' } }, git, folder),
        () => readBranch(git, folder, 'work'),
        () => readBranches(git, folder, ['work', 'main']),
        () => readSource(git, { repo, base: null, branches: ['work'] }),
        () => missingIn(git, { target, store, starts: [id], known: [], salvageCounts: true, signal: undefined }),
        () => savedCommits(git, folder, memoryLogger()),
        () => branches.tips(['work']),
        () => branches.push(bench, { branch: 'work', commit: id, from: null, earlierHeads: [] }),
      ]);
    },
  };
}

/** The files of a git directory that an agent wrote. */
export function gitFiles(): FuzzTarget {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-fuzz-git-'));
  for (const part of ['objects/info', 'refs/heads', 'logs/refs', 'rebase-merge'])
    mkdirSync(path.join(folder, part), { recursive: true });
  const whole: Readonly<Record<string, string>> = {
    HEAD: 'ref: refs/heads/main\n',
    config: '[core]\n\tbare = false\n',
  };
  const names = ['HEAD', 'config', 'packed-refs', 'shallow', 'objects/info/alternates', 'logs/HEAD', 'logs/refs/stash'];
  const all = [...names, 'refs/heads/main', 'MERGE_HEAD', 'rebase-merge/orig-head', 'commondir'];
  return {
    name: 'git-files',
    share: 4,
    corpus: [
      '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n[include]\n\tpath = ../x\n',
      `# pack-refs with: peeled fully-peeled sorted \n${id} refs/heads/main\n^${other}\n`,
      `${other} ${id} A Person <a@b> 1 +0000\tcommit: words\n`,
      `${id}\n`,
      'ref: refs/heads/main\n',
      '/somewhere/objects\n../more/objects\n"quoted\\t"\n',
    ],
    run: async (input) => {
      const name = all[input.reduce((sum, byte) => sum + byte, input.length) % all.length] ?? 'HEAD';
      for (const each of all) writeFileSync(path.join(folder, each), each === name ? input : (whole[each] ?? ''));
      if (name !== 'commondir') writeFileSync(path.join(folder, 'commondir'), '.\n');
      await tryAll([() => readGitDirectory(folder), () => readPast(folder)]);
    },
  };
}

const address = githubAddress('https://api.github.com') ?? never();
const repository = { owner: 'acme', name: 'app' };
const credential = { token: async () => new Secret('t'), refused: () => {} };

function never(): never {
  throw new Error('no address');
}

const record = {
  ...{ number: 7, url: 'https://github.com/acme/app/pull/7', state: 'OPEN', merged: false, mergeable: 'MERGEABLE' },
  ...{ headRefOid: id, headRef: { target: { oid: id } }, baseRefName: 'main', baseRef: { target: { oid: other } } },
  ...{ mergeCommit: null, mergedBy: { login: 'a' }, timelineItems: { nodes: [{ actor: { login: 'a' } }] } },
  reviews: {
    nodes: [
      {
        ...{ id: 'r', state: 'CHANGES_REQUESTED', body: 'No.', submittedAt: '2026-11-01T00:00:00Z' },
        ...{ authorCanPushToRepository: true, author: { login: 'a' }, commit: { oid: id } },
        comments: { nodes: [{ id: 'c', body: 'why', path: 'a.ts', line: 3, originalLine: 3 }] },
      },
    ],
  },
  comments: {
    nodes: [
      {
        ...{ id: 'ic', body: 'Hm.', createdAt: '2026-11-01T00:00:00Z' },
        ...{ authorAssociation: 'NONE', author: { login: 'b' } },
      },
    ],
  },
  commits: {
    nodes: [
      {
        commit: {
          oid: id,
          statusCheckRollup: {
            state: 'FAILURE',
            contexts: {
              totalCount: 3,
              nodes: [
                {
                  ...{ __typename: 'CheckRun', databaseId: 1, name: 'test', status: 'COMPLETED' },
                  ...{ conclusion: 'FAILURE', detailsUrl: 'https://x', isRequired: true },
                },
                { __typename: 'StatusContext', context: 'ci', state: 'PENDING', isRequired: false },
              ],
            },
          },
        },
      },
    ],
  },
};

/** GitHub, and the service that has its logs, answer every request with the input. */
export function github(): FuzzTarget {
  let body = '';
  const client: HttpClient = {
    send: async () => ({
      status: [200, 200, 200, 302, 403, 422, 500][body.length % 7] ?? 200,
      headers: {
        location: body.slice(0, 200),
        'x-ratelimit-reset': body.slice(0, 20),
        'retry-after': body.slice(0, 5),
      },
      body,
      isUnchanged: false,
    }),
    pressure: () => ({ level: 'none' }) as unknown as ReturnType<HttpClient['pressure']>,
    windows: () => [],
  };
  const pulls = createGithubPulls({
    ...{ repository, redactor: createRedactor(['s']), remote: { client: () => client }, review: settings({}).review },
    logger: { ...memoryLogger(), warn: () => {} },
    github: createGithub({ address, credential, clientFor: () => client, clock: systemClock }),
    objects: {
      tips: async () => new Map([['main', other]]),
      bringHead: async () => id,
      compute: async () => ({ isEmpty: false, mergeability: 'clean', conflicts: [], merged: null }),
    } as unknown as GithubPullsParts['objects'],
  });
  const pull = pullOf({ hostNumber: 7, url: null, headCommit: id, baseCommit: other });
  const change = { branch: 'work', base: 'main', title: 't', body: 'b' };
  const check = { id: 1, name: 'test', result: 'failed', isRequired: true, url: null } as const;
  return {
    name: 'github',
    share: 8,
    corpus: [
      { data: { repository: { p0: record } } },
      { data: { repository: null }, errors: [{ type: 'NOT_FOUND', message: 'no', path: ['repository'] }] },
      [{ number: 7, html_url: 'https://x', state: 'open', head: { sha: id, ref: 'work' } }],
      { number: 7, html_url: 'https://x', state: 'open', head: { sha: id, ref: 'work' } },
      { sha: id, merged: true },
      { message: 'Validation Failed', errors: [{ message: 'No commits between main and work' }], status: '422' },
      { steps: [{ name: 'Run tests', conclusion: 'failure' }] },
      '2026-11-01T00:00:00.0000000Z \u001b[31mError\u001b[0m: x\r\n\u001b]0;t\u0007\ufeff',
    ].map((each) => (typeof each === 'string' ? each : JSON.stringify(each))),
    run: async (input) => {
      body = input.toString();
      githubAddress(body);
      readRepository(body);
      repositoryOfUrl(body, address);
      await tryAll([
        () => pulls.read([pull]),
        () => pulls.open(change),
        () => pulls.findByBranch('work', 'main'),
        () => pulls.merge(pull, mergeOf(pull)),
        () => pulls.remote?.explainCheck(check),
      ]);
    },
  };
}
