import { Hono } from 'hono';
import { proofPortPath } from '../../client/local-headers.ts';
import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../core/logger.ts';
import { markStranger } from '../connections.ts';

import type { LocalProofs } from '../local-proofs.ts';

import { refuse } from '../refusal.ts';
import { createAdmit, type Identify, isOfThisMachine, tooMany } from './admit.ts';
import { agentReach, outOfReach } from './agent-reach.ts';
import type { ApiProjects } from './api-project.ts';
import type { ApiBindings } from './caller.ts';
import { type CostlyLimits, CostlyReads } from './costly-reads.ts';
import type { Metrics } from './metrics.ts';
import { mountRoutes } from './mount-routes.ts';
import { openApiDocument } from './openapi.ts';
import { problemsOf } from './present/needs-you.ts';
import { type RateLimit, RequestRate } from './request-rate.ts';
import type { Route } from './route.ts';
import { actionRoutes } from './routes/action-routes.ts';
import { readRoutes } from './routes/read-routes.ts';
import { symphonyRoutes } from './routes/symphony-routes.ts';
import { staticFiles } from './static-files.ts';
import { countStreams, type StreamLimits } from './stream/count-streams.ts';
import { EventStream } from './stream/event-stream.ts';
import { streamRoute } from './stream/stream-route.ts';

export interface ApiParts {
  readonly identify: Identify;
  readonly projects: ApiProjects;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Where a client of the local socket gets its proof; absent when there is no such socket. */
  readonly proofs?: Pick<LocalProofs, 'port'>;
  /** The folder of the built dashboard. */
  readonly dashboardFolder: string;
  /** Defaults apply to every missing limit. */
  readonly limits?: { readonly streams?: Partial<StreamLimits>; readonly costly?: Partial<CostlyLimits> };
}

export interface Api {
  readonly app: Hono;
  readonly routes: readonly Route[];
  close(): void;
}

/**
 * The limit for one address of another machine. Callers on this machine have no limit here: they share an address or
 * choose one freely, and a response that needs no caller costs no more than a refusal.
 */
const rateFromAfar: RateLimit = { burst: 2_000, perSecond: 500 };

/** The format of Prometheus. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** All routes of the API and the dashboard, to be mounted on a listener. */
export function createApi(parts: ApiParts): Api {
  const { projects, clock, metrics, version } = parts;
  const stream = new EventStream(parts);
  // Symphony's routes come last, because one of them matches any word.
  const reach = agentReach(projects);
  const routes = [...readRoutes(parts), ...actionRoutes({ ...parts, stream }), ...symphonyRoutes(parts)];
  // Made on the first request for it: few clients ask, and it takes longer than all else here.
  let document: string | undefined;
  const identify = createAdmit(parts.identify, clock);
  const fromAfar = new RequestRate(clock, rateFromAfar);
  const dashboard = staticFiles(parts.dashboardFolder);
  const app = new Hono<{ Bindings: ApiBindings }>();
  app.use(async ({ env }, next) => {
    const socket = env.incoming?.socket;
    if (socket === undefined || env.isLocal === true) return next();
    markStranger(socket);
    const address = socket.remoteAddress ?? 'unknown';
    return isOfThisMachine(address) || fromAfar.take(address) ? next() : tooMany({ connection: 'close' });
  });
  if (dashboard !== null) app.use(dashboard.notFoundPage);
  app.get('/healthz', () => Response.json({ status: 'ok' }));
  app.get('/readyz', () => readiness(projects));
  app.get('/metrics', async (context) => {
    const caller = await identify(context.req.raw, context.env);
    if (caller instanceof Response) return caller;
    if (!(await reach.covers(caller, null))) return outOfReach();
    return new Response(await metrics.text(), { headers: { 'content-type': metricsType } });
  });
  // Over HTTP the connection itself says who calls, so there are no proofs.
  app.get(proofPortPath, ({ env }) =>
    env.isLocal === true ? Response.json({ port: parts.proofs?.port ?? null }) : refuse('not_found'),
  );
  app.get('/api/v1/openapi.json', () => {
    document ??= JSON.stringify(openApiDocument(routes, version));
    return new Response(document, { headers: { 'content-type': 'application/json' } });
  });
  app.route('/', streamRoute(stream, { projects, identify: countStreams(identify, parts.limits?.streams) }));
  app.route('/', mountRoutes(routes, { ...parts, identify, costly: new CostlyReads(parts.limits?.costly) }));
  if (dashboard !== null) app.route('/', dashboard.files);
  return { app: app as unknown as Hono, routes, close: () => stream.close() };
}

/** Whether Baton can work: 503 with the reasons while it cannot. */
function readiness(projects: ApiProjects): Response {
  const all = projects.list();
  const problems = all.flatMap((project) =>
    problemsOf(project.read()).map(({ code }) => ({ project: project.name, code })),
  );
  const isReady = all.length > 0 && problems.length === 0;
  // Only codes: this address needs no token, and texts name files and issues.
  return Response.json(
    { status: isReady ? 'ready' : 'not_ready', projects: all.length, problems },
    { status: isReady ? 200 : 503, headers: { 'cache-control': 'no-store' } },
  );
}
