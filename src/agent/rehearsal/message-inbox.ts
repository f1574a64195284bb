import { type Clock, within } from '../../clock/clock.ts';

/** How often the scripted agent reports that it listens: silence would count as a stall. */
const reportEveryMs = 10_000;

/** A person ends the listening with these words. */
const enough = /^\s*go on[.!]?\s*$/i;

export interface Inbox {
  /** Adds the text of a person. */
  add(text: string): void;
  /** Waits, then returns the texts added so far; ends early at `go on`, which is not returned. */
  listen(ms: number): Promise<string[]>;
}

/** Collects texts that people send to the scripted agent while it works. Each text is returned once. */
export function createInbox(clock: Clock, say: (text: string) => void): Inbox {
  let texts: string[] = [];
  let next = Promise.withResolvers<void>();
  return {
    add: (text) => {
      texts.push(text);
      next.resolve();
    },
    listen: async (ms) => {
      const until = clock.monotonic() + ms;
      for (let left = ms; left > 0 && !texts.some((text) => enough.test(text)); left = until - clock.monotonic()) {
        say(`working for another ${Math.ceil(left / 1_000)} s; send a message, or "go on" to end this step`);
        next = Promise.withResolvers();
        await within(clock, Math.min(left, reportEveryMs), next.promise);
      }
      const messages = texts.filter((text) => !enough.test(text));
      texts = [];
      return messages;
    },
  };
}
