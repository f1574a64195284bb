import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openApi } from '../../src/daemon/services/open-api.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

it.runIf(process.platform === 'linux')(
  'warns when another program has the port of the last start, and says whose',
  async () => {
    const taker = createServer().listen(0, '127.0.0.1');
    await once(taker, 'listening');
    onTestFinished(() => void taker.close());
    const { port } = taker.address() as AddressInfo;
    const stateDir = scratchFolder();
    writeFileSync(path.join(stateDir, 'api-port'), `${port}\n`);
    const logger = memoryLogger();
    const uid = process.getuid?.() ?? null;
    const surroundings = {
      env: {},
      homeDir: stateDir,
      clock: systemClock,
      chance: systemChance,
      uid,
      userName: 'ann',
      version: '1',
      dashboardFolder: pathToFileURL(`${stateDir}/`),
    } as unknown as Surroundings;
    await using api = await openApi({ server: settings().server, port: undefined, stateDir }, logger, surroundings);
    expect(api.address?.port).not.toBe(port);
    const warned = logger.lines.find(({ event }) => event === 'api_port_taken');
    expect(warned).toMatchObject({ level: 'warn', fields: { port, uid, new_port: api.address?.port } });
  },
);
