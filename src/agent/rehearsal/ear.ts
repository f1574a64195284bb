import { type Clock, within } from '../../clock/clock.ts';

/** While it listens it says so this often: a silence would be taken for a stall. */
const saysEveryMs = 10_000;

/** With these words a person ends the listening. */
const enough = /^\s*go on[.!]?\s*$/i;

export interface Ear {
  /** A person says something. */
  hear(text: string): void;
  /** What people say in this time, and said before; sooner when they say `go on`, which is not given. */
  listen(ms: number): Promise<string[]>;
}

/** How the stand-in hears people while it works. What was said is given once. */
export function createEar(clock: Clock, say: (text: string) => void): Ear {
  let heard: string[] = [];
  let next = Promise.withResolvers<void>();
  return {
    hear: (text) => {
      heard.push(text);
      next.resolve();
    },
    listen: async (ms) => {
      const until = clock.monotonic() + ms;
      for (let left = ms; left > 0 && !heard.some((text) => enough.test(text)); left = until - clock.monotonic()) {
        say(`at work for another ${Math.ceil(left / 1_000)} s; tell me something, or "go on"`);
        next = Promise.withResolvers();
        await within(clock, Math.min(left, saysEveryMs), next.promise);
      }
      const words = heard.filter((text) => !enough.test(text));
      heard = [];
      return words;
    },
  };
}
