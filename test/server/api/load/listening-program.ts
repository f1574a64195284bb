// Listens to `GET /api/v1/events` many times over, in a process of its own (`listening.ts` starts it and says what is asked
// and told). What each listener knows is kept row by row, as a dashboard does it; texts that all of them hear are parsed once.
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { Patch } from '../../../../src/client/schema/event.ts';
import { type Now, rowLists } from '../../../../src/client/schema/now.ts';
import type { ListenersReport, OpenListeners, ToldListener } from './listening.ts';

class Heard {
  readonly isDeaf: boolean;
  request: ClientRequest | null = null;
  response: IncomingMessage | null = null;
  isOpen = false;
  isCut = false;
  lastId: string | null = null;
  bytes = 0;
  events = 0;
  runEvents = 0;
  /** By project, list and key; and the vitals of each project. */
  readonly rows = new Map<string, string>();
  #rest = '';

  constructor(isDeaf: boolean) {
    this.isDeaf = isDeaf;
  }

  take(chunk: string): void {
    this.bytes += chunk.length;
    const text = this.#rest + chunk;
    let from = 0;
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n', from)) {
      this.#hear(text.slice(from, at));
      from = at + 2;
    }
    this.#rest = text.slice(from);
  }

  #hear(block: string): void {
    const { id, event, data } = fieldsOf(block);
    if (id !== undefined) this.lastId = id;
    if (event === undefined || data === undefined) return;
    this.events += 1;
    if (event === 'run_events') this.runEvents += 1;
    if (event === 'snapshot') this.#begin((JSON.parse(data) as { readonly projects: readonly Now[] }).projects);
    if (event !== 'patch') return;
    const { set, drop } = parsedPatch(id ?? '', data);
    for (const key of drop) this.rows.delete(key);
    for (const [key, text] of set) this.rows.set(key, text);
  }

  #begin(projects: readonly Now[]): void {
    this.rows.clear();
    for (const now of projects) {
      this.rows.set(`${now.project}/vitals`, JSON.stringify(now.vitals));
      for (const list of rowLists)
        for (const row of now[list]) this.rows.set(`${now.project}/${list}/${row.key}`, JSON.stringify(row));
    }
  }
}

interface ParsedPatch {
  readonly data: string;
  readonly set: readonly (readonly [string, string])[];
  readonly drop: readonly string[];
}

const parsed = new Map<string, ParsedPatch>();
const mostParsed = 100;
/** Patches that had the number of another and were not the same. */
let unlike = 0;

function parsedPatch(id: string, data: string): ParsedPatch {
  const known = parsed.get(id);
  if (known?.data === data) return known;
  if (known !== undefined) unlike += 1;
  const { project, vitals, set, drop } = JSON.parse(data) as Patch;
  const patch: ParsedPatch = {
    data,
    set: [
      ...(vitals === undefined ? [] : [[`${project}/vitals`, JSON.stringify(vitals)] as const]),
      ...rowLists.flatMap((list) =>
        (set[list] ?? []).map((row) => [`${project}/${list}/${row.key}`, JSON.stringify(row)] as const),
      ),
    ],
    drop: rowLists.flatMap((list) => (drop[list] ?? []).map((key) => `${project}/${list}/${key}`)),
  };
  parsed.set(id, patch);
  const [oldest] = parsed.keys();
  if (parsed.size > mostParsed && oldest !== undefined) parsed.delete(oldest);
  return patch;
}

function fieldsOf(block: string): { readonly id?: string; readonly event?: string; readonly data?: string } {
  return Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
}

const listeners = new Set<Heard>();

function openAll({ url, count, runs, withRuns, deaf }: OpenListeners): Promise<void> {
  const opening = Array.from({ length: count }, (_, at) => {
    const heard = new Heard(at < deaf);
    listeners.add(heard);
    const wished = at < deaf + withRuns ? `?${runs.map((run) => `run=${encodeURIComponent(run)}`).join('&')}` : '';
    // Each is somebody else for the scene, who may ask so often and no oftener: a few dozen people, not one.
    return open(heard, `${url}/api/v1/events${wished}`, `127.0.1.${1 + (at % 50)}`);
  });
  return Promise.all(opening).then(() => {});
}

function open(heard: Heard, address: string, localAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(address, { agent: false, localAddress }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a listener was answered with ${response.statusCode}`));
      heard.isOpen = true;
      heard.response = response;
      response.once('close', () => {
        heard.isCut = true;
      });
      response.on('error', () => {});
      // One that is deaf has its connection and does not read from it.
      if (heard.isDeaf) return resolve();
      response.setEncoding('utf8').on('data', (chunk: string) => {
        heard.take(chunk);
        if (heard.rows.size > 0) resolve();
      });
    });
    request.on('error', (error) => {
      heard.isCut = true;
      reject(error);
    });
    heard.request = request;
  });
}

function closeAll(): void {
  for (const { request } of listeners) request?.destroy();
  listeners.clear();
}

function report(): ListenersReport {
  const all = [...listeners];
  const hearing = all.filter(({ isDeaf }) => !isDeaf);
  // Sorted, as the order of rows is not told.
  const states = hearing.map(({ rows }) => JSON.stringify([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  return {
    open: all.filter(({ isOpen, isCut }) => isOpen && !isCut).length,
    hearing: hearing.filter(({ isCut }) => !isCut).length,
    deafCut: all.filter(({ isDeaf, isCut }) => isDeaf && isCut).length,
    states: new Set(states).size,
    rows: hearing.at(-1)?.rows.size ?? 0,
    unlike,
    bytes: hearing.reduce((sum, { bytes }) => sum + bytes, 0),
    events: hearing.reduce((sum, { events }) => sum + events, 0),
    runEvents: hearing.reduce((sum, { runEvents }) => sum + runEvents, 0),
  };
}

process.on('message', (told: ToldListener) => {
  const answer = async (): Promise<unknown> => {
    if (told.ask === 'open') await openAll(told);
    if (told.ask === 'close') closeAll();
    // Whether a connection was cut is seen by whoever reads from it.
    if (told.ask === 'attend') for (const { isDeaf, response } of listeners) if (isDeaf) response?.resume();
    return told.ask === 'report' ? report() : {};
  };
  answer().then(
    (done) => process.send?.({ done }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
