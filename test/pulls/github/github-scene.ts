import path from 'node:path';
import type { Clock } from '../../../src/clock/clock.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Finding } from '../../../src/core/finding.ts';
import type { ReviewSettings } from '../../../src/core/settings.ts';
import { createRedactor } from '../../../src/core/text/redact.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import type { SentRequest } from '../../../src/http/http.ts';
import { createLimiterRegistry } from '../../../src/http/limiter-registry.ts';
import { createHttpClient } from '../../../src/http/metered-client.ts';
import { createUndiciTransport } from '../../../src/http/undici-transport.ts';
import { githubHost } from '../../../src/pulls/github/github-host.ts';
import type { PullHostParts } from '../../../src/pulls/pull-host.ts';
import type { PullRequests } from '../../../src/pulls/pull-requests.ts';
import { createGit } from '../../../src/workspace/git/git.ts';
import { gitPlaces } from '../../../src/workspace/git/git-places.ts';
import { type FakeGithub, startFakeGithub } from '../../fake/github/fake-github.ts';
import { type MemoryLogger, memoryLogger } from '../../fake/memory-logger.ts';
import { settings } from '../../fake/settings.ts';
import {
  commit,
  committing,
  git,
  gits,
  scratchRepository,
  writeFiles,
} from '../../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../../workspace/scratch-folder.ts';
import { branch, pullOf } from '../pull-scene.ts';

/** Called around each call of git and each request, by the name of the command, or by method and route. */
export type Around = <T>(step: string, act: () => Promise<T>) => Promise<T>;

/** A fake GitHub, a clone of it on this machine, and the host of its pull requests. */
export interface GithubScene {
  readonly folder: string;
  readonly github: FakeGithub;
  /** The repository on this machine. */
  readonly source: string;
  /** A clone in which people work; they push to GitHub from there, without its server. */
  readonly desk: string;
  readonly pulls: PullRequests;
  readonly logger: MemoryLogger;
  readonly sent: readonly SentRequest[];
  /** What a host of this scene is created with. */
  parts(review?: Partial<ReviewSettings>): PullHostParts;
  /** The checks of `baton doctor`. */
  doctor(review?: Partial<ReviewSettings>, base?: string): Promise<readonly Finding[]>;
  /** Another daemon on the same repository. */
  another(review?: Partial<ReviewSettings>, around?: Around): PullRequests;
  /** A person commits on a branch at GitHub, which begins at `main` when it is new. */
  push(name: string, files: Readonly<Record<string, string>>, message?: string): string;
  /** An agent's commits arrive in the repository on this machine. */
  publish(name: string, files: Readonly<Record<string, string>>, from?: string): string;
  reset(name: string, commit: string): void;
}

const started: FakeGithub[] = [];

export async function stopGithubs(): Promise<void> {
  for (const github of started.splice(0)) await github[Symbol.asyncDispose]();
}

export async function githubScene(
  review: Partial<ReviewSettings> = {},
  clock: Clock = systemClock,
): Promise<GithubScene> {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  git(source, 'checkout', '-q', '--detach');
  const github = await startFakeGithub({ folder, from: source, now: () => clock.now() });
  started.push(github);
  const desk = path.join(folder, 'desk');
  git(folder, 'clone', '-q', github.repository, desk);
  const logger = memoryLogger();
  const sent: SentRequest[] = [];
  const daemonEnv = { PATH: process.env.PATH, HOME: path.join(folder, 'home') };
  const deps = { clock: systemClock, containment: 'marker_sweep' as const, daemonId: systemChance.id(), daemonEnv };
  const limiters = createLimiterRegistry(clock);
  const transport = createUndiciTransport({ environment: {}, userAgent: 'baton/test' });
  const remote: PullHostParts['remote'] = {
    client: (provider, credential, allowInsecure) =>
      createHttpClient({
        ...{ provider, credential, limiters, transport, clock, logger, allowInsecure },
        budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
        onSent: (request) => void sent.push(request),
      }),
  };
  const realGit = createGit(deps);
  const partsOf = (over: Partial<ReviewSettings> = {}, around: Around = (_step, act) => act()): PullHostParts => ({
    repo: { location: source, shown: source, isLocal: true },
    review: {
      ...settings({}).review,
      host: 'github',
      repository: 'acme/app',
      apiUrl: github.apiUrl,
      token: new Secret(github.token),
      ...review,
      ...over,
    },
    git: {
      run: (call) => around(call.args[0] ?? '', () => realGit.run(call)),
      ask: (call) => around(call.args[0] ?? '', () => realGit.ask(call)),
    },
    places: gitPlaces(path.join(folder, 'state')),
    clock,
    logger,
    redactor: createRedactor(['a-secret-of-the-settings']),
    process: deps,
    remote: {
      client: (...given) => {
        const client = remote.client(...given);
        return { ...client, send: (request) => around(request.route, () => client.send(request)) };
      },
    },
  });
  const another = (over?: Partial<ReviewSettings>, around?: Around): PullRequests =>
    githubHost.create(partsOf(over, around));
  return {
    folder,
    github,
    source,
    desk,
    pulls: another(),
    logger,
    sent,
    another,
    parts: (over) => partsOf(over),
    doctor: async (over, base) =>
      (await githubHost.doctor?.(partsOf(over), { base: base ?? null, branch: 'baton/example-1' })) ?? [],
    push: (name, files, message) => {
      const from = github.tip(name) ?? github.tip('main') ?? '';
      gits(desk, ['fetch', '-q', '--prune', 'origin'], ['checkout', '-q', '-B', name, from]);
      writeFiles(desk, files);
      return gits(desk, ...committing(message), ['push', '-q', '--force', 'origin', `HEAD:refs/heads/${name}`]);
    },
    publish: (name, files, from = 'main') => {
      git(source, 'checkout', '-q', '--detach', from);
      const made = commit(source, files);
      gits(source, ['update-ref', `refs/heads/${name}`, made], ['checkout', '-q', '--detach', 'main']);
      return made;
    },
    reset: (name, to) => git(github.repository, 'update-ref', `refs/heads/${name}`, to),
  };
}

/** As `PullRequests.open` takes it. */
export const change = { branch, base: 'main', title: 'Say hello', body: 'More words.' };

/** An agent's change, proposed on GitHub. */
export async function proposedOnGithub(review: Partial<ReviewSettings> = {}) {
  const scene = await githubScene(review);
  const head = scene.publish(branch, { 'new.txt': 'hello\n' });
  const opened = await scene.pulls.open(change);
  return { ...scene, head, opened, pull: pullOf(opened) };
}
