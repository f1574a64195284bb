import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { connectAgain } from '../../data/connection/stream.ts';
import { giveToken, isTokenRefused } from '../../data/connection/token.ts';
import { Wordmark } from './wordmark.tsx';

/** Asks for the token that a daemon on another machine requires. */
export function TokenForm(): VNode {
  const field = useRef<HTMLInputElement>(null);
  return (
    <main class="token" id="main">
      <Wordmark />
      <h1>Enter a token</h1>
      <p>
        Create one on the daemon's machine with <code>baton token create --scope operate</code>, or with{' '}
        <code>--scope read</code> if you only want to read. The browser keeps the token until you close this tab.
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
        <input
          ref={field}
          type="password"
          autocomplete="off"
          aria-label="Token"
          aria-invalid={isTokenRefused.value}
          aria-describedby="token-problem"
        />
        <button type="submit" class="main">
          Continue
        </button>
      </form>
      <p id="token-problem" class={isTokenRefused.value ? 'problem' : ''} role="alert">
        {isTokenRefused.value && (
          <>
            The daemon does not know this token. It was mistyped or revoked; <code>baton token list</code> shows the
            valid ones.
          </>
        )}
      </p>
    </main>
  );
}
