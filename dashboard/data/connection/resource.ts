import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import { keepReading } from '../run/keep-reading.ts';
import { type Problem, read } from './api.ts';

/** A value read from the daemon. It stays while it is read again. */
export interface Resource<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
}

/**
 * Reads an address, and again when the address changes, when `changesWith` says that an event is about it, and after the
 * daemon was away. A null address reads nothing.
 */
export function useResource<T>(
  path: string | null,
  changesWith: (event: StreamEvent) => boolean = () => false,
): { readonly resource: ReadonlySignal<Resource<T>>; readonly reload: () => void } {
  const resource = useSignal<Resource<T>>({ value: null, problem: null });
  const isAbout = useRef(changesWith);
  isAbout.current = changesWith;
  const again = useRef(() => {});

  useEffect(() => {
    resource.value = { value: null, problem: null };
    if (path === null) return;
    const kept = keepReading(
      async (signal) => {
        const answer = await read<T>(path, signal);
        if (signal.aborted) return;
        resource.value =
          'value' in answer
            ? { value: answer.value, problem: null }
            : { value: resource.peek().value, problem: answer.problem };
      },
      (event) => isAbout.current(event),
    );
    again.current = kept.reload;
    return kept.close;
  }, [path, resource]);

  return { resource, reload: () => again.current() };
}
