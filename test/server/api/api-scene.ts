import { onTestFinished } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { Author } from '../../../src/core/issue/author.ts';
import { type ApiProject, createApiProjects } from '../../../src/server/api/api-project.ts';
import type { Caller } from '../../../src/server/api/caller.ts';
import { type Api, type ApiParts, createApi } from '../../../src/server/api/create-api.ts';
import { createMetrics } from '../../../src/server/api/metrics.ts';
import { type ListenerOptions, openListener } from '../../../src/server/listener.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { settings } from '../../fake/settings.ts';
import type { Scene } from '../../orchestrator/scene.ts';

const nothing = (what: string) => async (): Promise<never> => {
  throw new Error(`${what} is not part of this test`);
};

/** What the API knows of a scene: the real orchestrator and store; what needs other rooms is not there. */
export function projectOf(stage: Scene, name = 'test', more: Partial<ApiProject> = {}): ApiProject {
  const { orchestrator, store, project } = stage;
  return {
    name,
    id: project,
    tables: store,
    transcripts: { read: nothing('a transcript'), seek: nothing('a transcript') },
    owner: null,
    dashboardUrl: null,
    polling: () => settings().polling,
    pipeline: () => settings(),
    learner: () => settings().learner,
    prompts: () => [],
    storeChanged: () => orchestrator.wake(),
    describe: () => ({
      name,
      tracker: 'memory',
      has_board: false,
      states: [],
      workflow_path: '/w/WORKFLOW.md',
      version: '0.0.0',
    }),
    movesFrom: () => [],
    read: () => orchestrator.read(),
    watch: (watcher) => orchestrator.onChange(watcher),
    watchRuns: () => () => {},
    lastSeqOf: (runId) => orchestrator.lastSeqOf(runId),
    watchIssues: () => () => {},
    explain: (issue) => orchestrator.explain(issue),
    poll: () => {
      orchestrator.refresh();
      return { isCoalesced: false };
    },
    submit: async (request, author) => submitTo(stage, request, author),
    resumeCommand: async () => null,
    diff: nothing('a diff'),
    pulls: { review: () => settings().review, facts: async () => null, diff: nothing('a diff') },
    configuration: () => ({ path: '', revision: '', settings: [], problem: null, warnings: [] }),
    health: () => {
      throw new Error('health is not part of this test');
    },
    requests: nothing('a report of requests'),
    prunable: nothing('a prune'),
    salvage: nothing('salvage'),
    board: () => {
      throw new BatonError('tracker_not_board', 'The tracker is "memory".');
    },
    workspaces: nothing('a report of workspaces'),
    ...more,
  };
}

async function submitTo(
  { store, project, clock, orchestrator }: Scene,
  { kind, key, ...payload }: { readonly kind: string; readonly key?: string | undefined },
  author: Author,
): ReturnType<ApiProject['submit']> {
  const draft = { id: systemChance.id(), project, kind, payload, author, at: clock.now(), key: key ?? null };
  const { command } = await store.commands.submit(draft);
  orchestrator.wake();
  await clock.advance(0);
  const answered = (await store.commands.read(command.id)) ?? command;
  const { result } = answered;
  if (result?.status === 'refused')
    throw new BatonError('command_refused', result.text, {
      details: { id: answered.id, kind, code: result.code, data: result.data },
    });
  return { command: answered, facts: {} };
}

/** The API of these projects on a real listener. */
export async function apiOf(
  projects: readonly ApiProject[],
  caller: Caller | Response = { scopes: new Set(['read', 'operate']), author: { kind: 'person', name: 'me' } },
  { connections, ...more }: Partial<ApiParts> & Pick<ListenerOptions, 'connections'> = {},
) {
  const logger = memoryLogger();
  const registry = createApiProjects();
  const removes = projects.map((project) => registry.add(project));
  const metrics = createMetrics(registry, { read: () => ({ p50: 0, p99: 0, max: 0 }), close: () => {} });
  const api: Api = createApi({
    projects: registry,
    clock: systemClock,
    chance: systemChance,
    logger,
    metrics,
    version: '0.0.0',
    dashboardFolder: '/nowhere',
    identify: async () => (caller instanceof Response ? caller.clone() : caller),
    ...more,
  });
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    logger,
    clock: systemClock,
    chance: systemChance,
    ...(connections === undefined ? {} : { connections }),
  });
  listener.mount('/', api.app);
  onTestFinished(async () => {
    api.close();
    await listener.close();
  });
  const { url } = listener.address;
  const ask = async (method: string, path: string, body?: unknown): Promise<Asked> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : null,
    };
  };
  return { api, listener, url, ask, registry, removes, metrics, logger };
}

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  readonly json: any;
}
