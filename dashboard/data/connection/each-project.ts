import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import { keepReading } from '../run/keep-reading.ts';
import { type Problem, projectPath, read } from './api.ts';
import { shownProjects } from './live.ts';

/** The answer of one project, and its question: an older answer stays until the next arrives. */
export interface ProjectAnswer<T> {
  readonly project: string;
  readonly asked: string;
  readonly value: T | null;
  readonly problem: Problem | null;
}

interface Ways {
  readonly changesWith?: (event: StreamEvent) => boolean;
  /** Changes within this time lead to one read only. */
  readonly settleMs?: number;
}

/**
 * Asks every project that is shown the same: `usage?from=…`. Again when the question or the projects change, when an event
 * is about it, and after the daemon was away. All answers come together, so that sums never jump. Null asks nothing.
 */
export function useEachProject<T>(
  question: string | null,
  { changesWith = () => false, settleMs }: Ways = {},
): { readonly answers: ReadonlySignal<readonly ProjectAnswer<T>[]>; readonly reload: () => void } {
  const answers = useSignal<readonly ProjectAnswer<T>[]>([]);
  const isAbout = useRef(changesWith);
  isAbout.current = changesWith;
  const again = useRef(() => {});
  // Rows change all the time; the shown projects do not.
  const names = JSON.stringify(shownProjects.value.map(({ project }) => project));

  useEffect(() => {
    if (question === null) answers.value = [];
    if (question === null) return;
    const kept = keepReading(
      async (signal) => {
        const before = new Map(answers.peek().map((answer) => [answer.project, answer]));
        const asked = (JSON.parse(names) as string[]).map((project) => ask<T>(project, question, signal));
        const fresh = await Promise.all(asked);
        if (!signal.aborted) answers.value = fresh.map((answer) => orBefore(answer, before.get(answer.project)));
      },
      (event) => isAbout.current(event),
      settleMs,
    );
    again.current = kept.reload;
    return kept.close;
  }, [question, names, settleMs, answers]);

  return { answers, reload: () => again.current() };
}

async function ask<T>(project: string, asked: string, signal: AbortSignal): Promise<ProjectAnswer<T>> {
  const answer = await read<T>(`${projectPath(project)}/${asked}`, signal);
  return 'value' in answer
    ? { project, asked, value: answer.value, problem: null }
    : { project, asked, value: null, problem: answer.problem };
}

/** An earlier answer to the same question stays while it cannot be read again. */
function orBefore<T>(answer: ProjectAnswer<T>, before: ProjectAnswer<T> | undefined): ProjectAnswer<T> {
  return answer.problem !== null && before?.asked === answer.asked ? { ...answer, value: before.value } : answer;
}
