import { type Clock, within } from '../../clock/clock.ts';

/** How often it reports that it is listening: silence would count as a stall. */
const saysEveryMs = 10_000;

/** With these words a person ends the listening. */
const enough = /^\s*go on[.!]?\s*$/i;

export interface Ear {
  /** A person says something. */
  hear(text: string): void;
  /** Returns what people say in this time and said before; ends early at `go on`, which is not returned. */
  listen(ms: number): Promise<string[]>;
}

/** Collects what people say to the stand-in while it works. Each text is returned once. */
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
