import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The address of a new server that ends with this process; null when it cannot run here. */
export async function startKeeper(flags: readonly string[]): Promise<string | null> {
  const keeper = spawn(process.execPath, [fileURLToPath(import.meta.resolve('./postgres-keeper.ts')), ...flags], {
    stdio: ['pipe', 'pipe', process.env.CI ? 'inherit' : 'ignore'],
  });
  const lines = createInterface({ input: keeper.stdout });
  const url = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    once(keeper, 'exit').then(() => null),
  ]);
  lines.close();
  // It must not keep the test run alive; its standard input ends with this process, and that ends it.
  keeper.unref();
  for (const stream of [keeper.stdin, keeper.stdout])
    if ('unref' in stream) (stream as unknown as { unref(): void }).unref();
  return url;
}
