import type { ImportEntry, ImportProblem } from './import-entry.ts';

/** Another issue that an entry points to: in the same file, or on the board already. */
export type ImportTarget =
  | { readonly kind: 'entry'; readonly entry: ImportEntry }
  | { readonly kind: 'identifier'; readonly identifier: string };

export interface ImportLinks {
  readonly parent: ImportTarget | null;
  readonly blockers: readonly ImportTarget[];
}

/**
 * Resolves `parent` and `blocked_by` of each entry: a key of the file, else a title of the file, else an identifier on
 * the board. A cycle can only be inside the file, because nothing on the board points to issues that do not exist yet.
 */
export function resolveLinks(entries: readonly ImportEntry[]): {
  links: ReadonlyMap<ImportEntry, ImportLinks>;
  problems: readonly ImportProblem[];
} {
  const problems = repeatedKeys(entries);
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const byTitle = Map.groupBy(entries, ({ title }) => title);
  const resolve = (entry: ImportEntry, name: string): ImportTarget => {
    const titled = byTitle.get(name) ?? [];
    const target = byKey.get(name) ?? titled[0];
    if (target === undefined) return { kind: 'identifier', identifier: name };
    if (!byKey.has(name) && titled.length > 1) {
      const count = titled.length;
      const message = `"${name}" is the title of ${count} issues; use a key`;
      problems.push({ line: entry.line, problem: 'title_of_several', name, count, message });
    }
    return { kind: 'entry', entry: target };
  };
  const links = new Map(
    entries.map((entry) => [
      entry,
      {
        parent: entry.parent === null ? null : resolve(entry, entry.parent),
        blockers: entry.blocked_by.map((name) => resolve(entry, name)),
      } satisfies ImportLinks,
    ]),
  );
  problems.push(
    ...cycles(entries, (entry) => links.get(entry)?.blockers ?? [], 'blocker_cycle'),
    ...cycles(entries, (entry) => [links.get(entry)?.parent ?? null].filter((each) => each !== null), 'parent_cycle'),
  );
  return { links, problems };
}

function repeatedKeys(entries: readonly ImportEntry[]): ImportProblem[] {
  const first = new Map<string, ImportEntry>();
  const problems: ImportProblem[] = [];
  for (const entry of entries) {
    const earlier = first.get(entry.key);
    if (earlier === undefined) first.set(entry.key, entry);
    else {
      const isTitle = earlier.title === entry.title;
      const what = isTitle ? `the title "${entry.title}"` : `the key "${entry.key}"`;
      const message = `${what} is already used in line ${earlier.line}; give each issue its own key`;
      problems.push({
        line: entry.line,
        problem: isTitle ? 'title_twice' : 'key_twice',
        name: isTitle ? entry.title : entry.key,
        first_line: earlier.line,
        message,
      });
    }
  }
  return problems;
}

/**
 * Returns at most one problem: a cycle among the links, at its first entry. Entries without links are removed until
 * nothing changes. Every remaining entry links to another remaining one, so following the links finds a cycle.
 */
function cycles(
  entries: readonly ImportEntry[],
  next: (entry: ImportEntry) => readonly ImportTarget[],
  problem: keyof typeof cycleWords,
): ImportProblem[] {
  const targets = new Map(entries.map((entry) => [entry, new Set(entriesOf(next(entry)))]));
  const sources = Map.groupBy(
    entries.flatMap((source) => [...(targets.get(source) ?? [])].map((target) => ({ source, target }))),
    ({ target }) => target,
  );
  const free = entries.filter((entry) => targets.get(entry)?.size === 0);
  for (let entry = free.pop(); entry !== undefined; entry = free.pop()) {
    targets.delete(entry);
    for (const { source } of sources.get(entry) ?? []) {
      targets.get(source)?.delete(entry);
      if (targets.get(source)?.size === 0) free.push(source);
    }
  }
  const path = new Set<ImportEntry>();
  let [current] = targets.keys();
  while (current !== undefined && !path.has(current)) {
    path.add(current);
    [current] = targets.get(current) ?? [];
  }
  if (current === undefined) return [];
  const cycle = [...[...path].slice([...path].indexOf(current)), current].map(({ title }) => title);
  const message = `${cycleWords[problem]}: ${cycle.map((title) => `"${title}"`).join(' → ')}`;
  return [{ line: current.line, problem, cycle, message }];
}

const cycleWords = { blocker_cycle: 'waits for itself', parent_cycle: 'is its own ancestor' };

function entriesOf(targets: readonly ImportTarget[]): ImportEntry[] {
  return targets.filter((target) => target.kind === 'entry').map(({ entry }) => entry);
}
