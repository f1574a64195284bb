import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { connectAgain } from '../../data/connection/stream.ts';
import { giveToken } from '../../data/connection/token.ts';
import { Wordmark } from './wordmark.tsx';

/** A daemon that is reached from another machine asks for a token. */
export function TokenForm(): VNode {
  const field = useRef<HTMLInputElement>(null);
  return (
    <main class="token" id="main">
      <Wordmark />
      <h1>This daemon asks for a token</h1>
      <p>
        On its machine: <code>baton token create --scope operate</code>, or <code>--scope read</code> to look only. It
        is kept for this tab and forgotten with it. If you gave one already, the daemon does not know it.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const token = field.current?.value ?? '';
          if (token.trim() === '') return field.current?.focus();
          giveToken(token);
          connectAgain();
        }}
      >
        <input ref={field} type="password" autocomplete="off" aria-label="Token" />
        <button type="submit" class="main">
          Open
        </button>
      </form>
    </main>
  );
}
