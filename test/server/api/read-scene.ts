import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/clock/clock.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { boardStatuses } from '../../../src/core/issue/board-status.ts';
import { type ApiProject, createApiProjects } from '../../../src/server/api/api-project.ts';
import { CostlyReads } from '../../../src/server/api/costly-reads.ts';
import { mountRoutes } from '../../../src/server/api/mount-routes.ts';
import type { Route } from '../../../src/server/api/route.ts';
import { readRoutes } from '../../../src/server/api/routes/read-routes.ts';
import { transcriptFiles } from '../../../src/store/transcripts/transcript-files.ts';
import { movesFrom } from '../../../src/tracker/board/board-transitions.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import type { Scene } from '../../orchestrator/scene.ts';
import { projectOf } from './api-scene.ts';
import { expectAnswer } from './expect-answer.ts';

/** Everything that the API tells of these projects; a caller may read and nothing else. */
export function readsOf(projects: readonly ApiProject[], clock: Clock = systemClock) {
  const registry = createApiProjects();
  for (const project of projects) registry.add(project);
  const routes = readRoutes({ projects: registry, clock });
  const app = mountRoutes(routes, {
    identify: async () => ({ scopes: new Set(['read'] as const), author: { kind: 'person', name: 'me' } }),
    logger: memoryLogger(),
    projects: registry,
    costly: new CostlyReads(),
  });
  const ask = async (address: string): Promise<Response> => app.request(`http://baton${address}`);
  return {
    routes,
    ask,
    /** A good answer, held against the schema of its route. */
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
    get: async (address: string): Promise<any> => expectAnswer(routeOf(routes, address), await ask(address)),
    /** A refusal: its status and its code. */
    refused: async (address: string): Promise<readonly [number, string]> => {
      const response = await ask(address);
      const { error } = (await response.json()) as { error: { code: string } };
      return [response.status, error.code];
    },
  };
}

function routeOf(routes: readonly Route[], address: string): Route {
  const { pathname } = new URL(address, 'http://baton');
  const fits = (pattern: string): boolean => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname);
  const found = routes.find((route) => fits(route.path));
  if (found === undefined) throw new Error(`there is no route for ${address}`);
  return found;
}

/** A project whose issues are on Baton's own board, in the store of the scene. */
export function boardProject(stage: Scene, more: Partial<ApiProject> = {}): ApiProject {
  const states = boardStatuses.map((name) => ({ name, kind: kinds[name] ?? ('active' as const) }));
  return projectOf(stage, 'test', {
    describe: () => ({
      name: 'test',
      tracker: 'board',
      has_board: true,
      states,
      workflow_path: '/w/WORKFLOW.md',
      version: '0.0.0',
    }),
    movesFrom,
    ...more,
  });
}

const kinds: Readonly<Record<string, 'terminal' | 'other'>> = {
  done: 'terminal',
  cancelled: 'terminal',
  backlog: 'other',
};

/** Real transcript files in a folder of their own. */
export function scratchTranscripts(): ReturnType<typeof transcriptFiles> {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-transcripts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return transcriptFiles(folder);
}
