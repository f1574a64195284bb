import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { inProcess, type Send } from '../../client/send.ts';
import { type LoopDelay, watchLoopDelay } from '../../clock/loop-delay.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings.ts';
import { createPeerFinder } from '../../process/sockets/socket-peer.ts';
import { listenerUid } from '../../process/sockets/socket-table.ts';
import { type ApiProjects, createApiProjects } from '../../server/api/api-project.ts';
import type { Api } from '../../server/api/create-api.ts';
import { createIdentify } from '../../server/api/identify.ts';
import type { Metrics } from '../../server/api/metrics.ts';
import { type Listener, type ListenerAddress, openListener } from '../../server/listener.ts';
import { openLocalProofs } from '../../server/local-proofs.ts';
import { refuse } from '../../server/refusal.ts';
import { TokenFile } from '../../server/token-file.ts';
import { tokenFile } from '../state-folder.ts';
import type { Surroundings } from '../surroundings.ts';

/** The API of this Baton, for all its projects. */
export interface OpenedApi extends AsyncDisposable {
  /** The routes, to be served on local sockets as well. They are loaded with the first request. */
  readonly routes: () => Promise<Hono>;
  /** Null where `server.enabled` is false. */
  readonly address: ListenerAddress | null;
  readonly projects: ApiProjects;
  readonly metrics: Metrics;
  readonly delay: LoopDelay;
  /** Sends requests of this process itself, in the name of its user. */
  readonly send: Send;
  /** Processes that carry the marker of this daemon are agents, and never count as a person. */
  knowDaemon(daemonId: string): void;
}

export interface ApiOptions {
  readonly server: Settings['server'];
  /** As given on the command line; it takes precedence. */
  readonly port: number | undefined;
  /** The folder that stores the last port. */
  readonly stateDir: string;
  readonly isStopping?: () => boolean;
}

/** Opens the API. Rejects with `port_in_use` when another program has the requested port. */
export async function openApi(
  { server, port, stateDir, isStopping }: ApiOptions,
  logger: Logger,
  surroundings: Surroundings,
): Promise<OpenedApi> {
  await using opened = new AsyncDisposableStack();
  const projects = createApiProjects(isStopping);
  const delay = opened.adopt(watchLoopDelay(), (watched) => watched.close());
  const metrics = onFirstUse(async () => {
    const { createMetrics } = await import('../../server/api/metrics.ts');
    return createMetrics(projects, delay);
  });
  const daemonIds = new Set<string>();
  const { clock, chance } = surroundings;
  const tokens = new TokenFile(tokenFile(surroundings), clock);
  const isOpen = server.enabled || port !== undefined;
  const listener = isOpen ? opened.use(await listen({ server, port, stateDir }, logger, surroundings)) : null;
  const isLoopback = listener?.address.isLoopback ?? true;
  if (!isLoopback && tokens.list().length === 0) {
    throw new BatonError('token_needed', `Baton would listen on ${server.host}, but no access token exists.`);
  }
  const { userName, uid } = surroundings;
  const findPeer = createPeerFinder({ daemonIds, uid, clock });
  const proofs = opened.use(await openLocalProofs(findPeer, logger));
  const identify = createIdentify({ tokens, isLoopback, userName, findPeer, proofs, logger });
  const parts = { projects, clock, chance, logger, metrics, identify, proofs };
  let loading: Promise<Api & { readonly own: Hono }> | undefined;
  const load = async (): Promise<Api & { readonly own: Hono }> => {
    const { createApi } = await import('../../server/api/create-api.ts');
    const dashboardFolder = fileURLToPath(surroundings.dashboardFolder);
    const api = createApi({ ...parts, version: surroundings.version, dashboardFolder });
    const own = new Hono().route('/', api.app).onError((error) => {
      logger.error('request_failed', { error });
      return refuse('internal_error');
    });
    return { ...api, own };
  };
  const loaded = (): ReturnType<typeof load> => {
    loading ??= load();
    return loading;
  };
  const routes = async (): Promise<Hono> => (await loaded()).app;
  opened.defer(async () => (await loading)?.close());
  listener?.mount('/', routes);
  if (listener !== null && port === undefined && server.port === null) {
    // Only once there is a project: a Baton that cannot start must leave no file behind.
    const unwatch = projects.onChange(() => {
      unwatch();
      keepPort(portFile(stateDir), listener.address.port, logger);
    });
  }
  const kept = opened.move();
  return {
    routes,
    address: listener?.address ?? null,
    projects,
    metrics,
    delay,
    send: inProcess(async (request) => (await loaded()).own.fetch(request, { isLocal: true, isOwn: true })),
    knowDaemon: (daemonId) => void daemonIds.add(daemonId),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** This number of events waits in little memory; few daemons are ever scraped. */
const mostWaitingEvents = 1_000;

/** Metrics whose library is loaded with the first scrape, or when many events wait for it; nothing is lost in between. */
function onFirstUse(create: () => Promise<Metrics>): Metrics {
  let created: Promise<Metrics> | undefined;
  const waiting: ((metrics: Metrics) => void)[] = [];
  const get = async (): Promise<Metrics> => {
    created ??= create();
    const metrics = await created;
    for (const event of waiting.splice(0)) event(metrics);
    return metrics;
  };
  const note = (event: (metrics: Metrics) => void): void => {
    waiting.push(event);
    if (created !== undefined || waiting.length >= mostWaitingEvents) void get();
  };
  return {
    runEnded: (run) => note((metrics) => metrics.runEnded(run)),
    requestSent: (request) => note((metrics) => metrics.requestSent(request)),
    text: async () => (await get()).text(),
  };
}

/** A requested port must be available; the port of the last start is only preferred, and any other will do. */
async function listen(
  { server, port, stateDir }: ApiOptions,
  logger: Logger,
  { clock, chance }: Surroundings,
): Promise<Listener> {
  const wanted = port ?? server.port;
  const { host, allowedHosts } = server;
  const open = (at: number): Promise<Listener> => openListener({ host, port: at, allowedHosts, logger, clock, chance });
  if (wanted !== null) return open(wanted);
  const last = lastPort(portFile(stateDir));
  return open(last).catch(async (error: unknown) => {
    if (!(error instanceof BatonError) || !['port_in_use', 'listener_failed'].includes(error.code)) throw error;
    const listener = await open(0);
    logger.warn('api_port_taken', { port: last, uid: await listenerUid(last), new_port: listener.address.port });
    return listener;
  });
}

function portFile(stateDir: string): string {
  return path.join(stateDir, 'api-port');
}

/** 0 when there is none. */
function lastPort(file: string): number {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : 0;
  } catch {
    return 0;
  }
}

/** Stores the port, so that open pages and saved addresses still work after a restart. */
function keepPort(file: string, port: number, logger: Logger): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${port}\n`, { mode: 0o600 });
  } catch (error) {
    logger.warn('api_port_not_saved', { error });
  }
}
