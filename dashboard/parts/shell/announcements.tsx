import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { needsYou, projects } from '../../data/connection/live.ts';

const ownActions: ReadonlySet<string> = new Set(['person', 'taken_over']);

/** Announces new rows that need a person to screen readers; nothing else speaks by itself. */
export function Announcements(): VNode {
  const announced = useSignal('');
  const before = useRef<ReadonlySet<string> | null>(null);
  const rows = needsYou.value;
  const isKnown = projects.value !== null;
  useEffect(() => {
    if (!isKnown) return;
    const known = before.current;
    before.current = new Set(rows.map(({ project, row }) => `${project}/${row.key}`));
    // Rows that were there when the page opened are read with the page.
    if (known === null) return;
    // A person's own action is not announced either.
    const fresh = rows.filter(({ project, row }) => !known.has(`${project}/${row.key}`) && !ownActions.has(row.code));
    if (fresh.length > 0)
      announced.value = fresh
        .map(({ project, row }) => harmlessLine(`${row.issue_identifier ?? project} needs you: ${row.reason}`))
        .join(' ');
  }, [rows, isKnown, announced]);
  return (
    <p class="unseen" aria-live="polite">
      {announced}
    </p>
  );
}
