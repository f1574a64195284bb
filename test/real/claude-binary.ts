import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { pinnedClaudeVersion } from '../../src/agent/claude/pinned-version.ts';
import { areRealAgentsWanted, installPackage, packageFolder } from './cached-package.ts';

const run = promisify(execFile);

/** The program and its version. */
export interface ClaudeBinary {
  readonly path: string;
  readonly version: string;
}

/** The packages that bring the pinned version, by platform, each with the checksum of the registry. */
const packageVersion = '0.3.325';
const checksums: Readonly<Record<string, string>> = {
  'linux-x64': 'sha512-wXEWbDmNYiorY5EKASYjvQct8zHShUPmAS9N/IAsgPA/cx2vsOFqPQw8jRQKeaW6AmFgx7k/Wf7THalNXbMEkQ==',
  'linux-arm64': 'sha512-28oVrCEN6M6MJP8Od4SK/scal1QdLbn5Sci+qL8j55l6csHtPeUYF9zdjWLniFKph43pejfZf5te/Vf/bwehkw==',
  'darwin-x64': 'sha512-HD3YRFyM5H5QH2usS/WD6gobk3BEp2jq9dKyrkhAVdQIqFMlrcSrRhGA0i3R1IOLxtPAYkmDGepZ62k1kMOW9Q==',
  'darwin-arm64': 'sha512-0u8bTug2zH+zWE8CMiFrm/ldmH20uA9B/zhXpI7ATHFJnpPMdwTqE56CFM0m3LOwnNum0jpRn7XV1dn6Pf2pqA==',
};

/**
 * The real Claude Code, for tests: `BATON_CLAUDE` if it is set, otherwise the pinned version from the cache folder. That
 * one is fetched on demand only if `CI` or `BATON_REAL_AGENTS` is set, because it is large.
 */
export async function findClaude(): Promise<ClaudeBinary | { readonly missing: string }> {
  const { BATON_CLAUDE } = process.env;
  if (BATON_CLAUDE)
    return (await askVersion(BATON_CLAUDE)) ?? { missing: `BATON_CLAUDE=${BATON_CLAUDE} does not run.` };
  const platform = `${process.platform}-${process.arch}`;
  const checksum = checksums[platform];
  if (checksum === undefined) return { missing: `There is no Claude Code for ${platform}.` };
  const wanted = { name: `@anthropic-ai/claude-agent-sdk-${platform}`, version: packageVersion };
  const program = (folder: string): string => path.join(folder, 'node_modules', wanted.name, 'claude');
  try {
    if (areRealAgentsWanted())
      await installPackage(
        wanted,
        (folder) => existsSync(program(folder)) && checksumIn(folder, wanted.name) === checksum,
      );
  } catch (error) {
    return { missing: `Claude Code ${pinnedClaudeVersion} could not be installed: ${String(error)}` };
  }
  const found = await askVersion(program(packageFolder(wanted)));
  if (found?.version === pinnedClaudeVersion) return found;
  const how = 'BATON_REAL_AGENTS=1 gets it into the cache folder, BATON_CLAUDE=<program> names another.';
  return { missing: `Claude Code ${pinnedClaudeVersion} is not at hand. ${how}` };
}

/** Each start reads a program of 366 MB, which a busy machine does slowly. */
const suiteTimeoutMs = 90_000;

/** npm compared it with what it fetched. */
function checksumIn(folder: string, name: string): unknown {
  const lock = JSON.parse(readFileSync(path.join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
  return lock.packages[`node_modules/${name}`]?.integrity;
}

/**
 * A suite on the real Claude Code. Without it the suite is skipped with the reason; if real agents are required, it
 * fails instead.
 */
export async function describeWithClaude(
  title: string,
  suite: (claude: ClaudeBinary) => void | Promise<void>,
): Promise<void> {
  const found = await findClaude();
  if (!('missing' in found)) {
    describe(`${title}, with Claude Code ${found.version}`, { timeout: suiteTimeoutMs }, () => suite(found));
    return;
  }
  if (areRealAgentsWanted()) throw new Error(found.missing);
  // The reporter shows how many tests are skipped, not which.
  console.warn(`skipped: ${title}. ${found.missing}`);
  describe.skip(title, () => suite({ path: '', version: '' }));
}

async function askVersion(program: string): Promise<ClaudeBinary | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 60_000 });
    return { path: program, version: stdout.trim().split(' ')[0] ?? '' };
  } catch {
    return null;
  }
}
