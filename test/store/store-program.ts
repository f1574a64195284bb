// A program for tests that need a second process. `hold URL` opens the store as a daemon, says so, and keeps it until
// its standard input ends. `write URL NAME` writes one command after the other and names each that was acknowledged.
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { openStore } from '../../src/store/open-store.ts';

const [act, url = '', name = ''] = process.argv.slice(2);
const say = (line: string): void => void writeSync(1, `${line}\n`);
const inputEnded = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve);
  process.stdin.resume();
});

try {
  const store = await openStore({
    url,
    clock: systemClock,
    mode: act === 'hold' || name === 'daemon' ? 'daemon' : 'visitor',
  });
  // Node writes it at the end, which most of these programs do not reach.
  flushCompileCache();
  say('open');
  if (act === 'hold') await inputEnded;
  else await write();
  await store.close();

  async function write(): Promise<void> {
    let ended = false;
    void inputEnded.then(() => {
      ended = true;
    });
    for (let index = 0; !ended; index++) {
      const id = `${name}-${process.pid}-${index}`;
      // Two tables in one transaction: after a crash both are there or neither.
      await store.transaction(async (tables) => {
        const author = { kind: 'orchestrator' } as const;
        await tables.commands.submit({ id, project: 'p', kind: 'write', payload: {}, author, at: index, key: id });
        await tables.counters.add({ project: 'p', issueId: 'all' }, 'written', 1);
      });
      say(id);
      // The loop of events must turn for the input's end to be seen: SQLite answers without leaving its turn.
      if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
} catch (error) {
  if (!(error instanceof BatonError)) throw error;
  say(JSON.stringify(error));
  process.exitCode = 1;
}
process.stdin.destroy();
