import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { RowList } from '../../../src/client/schema/now.ts';
import { fromSnapshot, type ProjectRows, type RowOf, withPatch } from '../issue/rows.ts';
import { place } from '../page/router.ts';

/**
 * The live state of every project: the only store that the stream fills and every screen derives from. Nothing else
 * changes it, not even an action: the result of an action comes back by the stream.
 */
const known = signal<ReadonlyMap<string, ProjectRows> | null>(null);

/** Null until the first snapshot is there. */
export const projects: ReadonlySignal<ReadonlyMap<string, ProjectRows> | null> = known;

/** A row, and whose it is. The same row is the same object here too. */
export interface Placed<R> {
  readonly project: string;
  readonly row: R;
}

/** The shown projects: the one that the address names, or all. */
export const shownProjects = computed<readonly ProjectRows[]>(() => {
  const all = [...(known.value?.values() ?? [])];
  const chosen = place.value.query.get('project');
  const matching = all.filter(({ project }) => project === chosen);
  return matching.length > 0 ? matching : all;
});

/** Null before the first answer. */
export function vitalsOf(project: string): ProjectRows['vitals'] | null {
  return known.value?.get(project)?.vitals ?? null;
}

/** The agents of a project that a person can choose among; empty where there is only one. */
export function agentsOf(project: string): readonly string[] {
  return known.value?.get(project)?.vitals.agents ?? [];
}

/** Whether a shown project prepares its issues in phases. */
export const hasPipeline = computed(() => shownProjects.value.some(({ vitals }) => vitals.phases !== undefined));

export const hasSeveralProjects = computed(() => (known.value?.size ?? 0) > 1);

export const needsYou = listOf('needs_you');
export const running = listOf('running');
export const waiting = listOf('waiting');
export const finished = listOf('finished');
export const accounts = listOf('accounts');

const places = new WeakMap<object, Placed<unknown>>();

function listOf<L extends RowList>(list: L): ReadonlySignal<readonly Placed<RowOf[L]>[]> {
  return computed(() =>
    shownProjects.value.flatMap((rows) => {
      // The compiler does not see that the list of a name has the rows of that name.
      const all = rows[list] as ReadonlyMap<string, unknown> as ReadonlyMap<string, RowOf[L]>;
      return [...all.values()].map((row) => put(rows, row));
    }),
  );
}

function put<R extends object>({ project }: ProjectRows, row: R): Placed<R> {
  // A row belongs to one project while it exists, so the value made from it has the same type.
  const before = places.get(row) as Placed<R> | undefined;
  const placed = before ?? { project, row };
  if (before === undefined) places.set(row, placed);
  return placed;
}

type Listener = (event: StreamEvent) => void;
const listeners = new Set<Listener>();

/** Calls the listener for every event of the stream, after the rows have changed. The returned function ends that. */
export function onStreamEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Takes in one event; only the stream calls it. */
export function takeEvent(event: StreamEvent): void {
  batch(() => {
    if (event.name === 'snapshot') {
      known.value = new Map(event.data.projects.map((each) => [each.project, fromSnapshot(each)]));
    } else if (event.name === 'patch') {
      const before = known.peek()?.get(event.data.project);
      // A snapshot comes before the first patch of an unknown project.
      if (before !== undefined)
        known.value = new Map(known.peek()).set(event.data.project, withPatch(before, event.data));
    }
    for (const listener of [...listeners]) listener(event);
  });
}
