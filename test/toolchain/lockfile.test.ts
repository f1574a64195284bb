import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findOnPath, runProgram } from './run-program.ts';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  // npm writes a list; some packages of one platform have a bare word.
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = path.resolve(import.meta.dirname, '../..');
const readText = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');
const manifest = JSON.parse(readText('package.json'));
const runtimeManifest = JSON.parse(readText('scripts/node-runtime/package.json'));
/** How an SBOM of npm marks a package that only development needs. */
const developmentMark = 'cdx:npm:package:development';
const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'];

describe.each(['package-lock.json', 'scripts/node-runtime/package-lock.json'])('%s', (file) => {
  const packages: Record<string, LockEntry> = JSON.parse(readText(file)).packages;
  const entries = Object.entries(packages);

  it('contains every optional dependency that an entry names', () => {
    expect(missingOptionals(packages)).toEqual([]);
  });

  // @conforms toolchain.7
  it('contains the binaries for macOS, Linux and Windows of every package with binaries', () => {
    const families = entries.filter(([place]) => binariesOf(packages, place).length > 1);
    expect(families.length).toBeGreaterThan(0);
    for (const [place] of families) {
      const found = binariesOf(packages, place).flatMap((entry) => platformsOf(entry));
      expect([place, platforms.filter((platform) => !found.includes(platform))]).toEqual([place, []]);
    }
  });

  it('has a checksum and no address for every package, so that any mirror can serve it', () => {
    const installed = entries.filter(([place]) => place !== '');
    expect(installed.filter(([, entry]) => entry.resolved !== undefined)).toEqual([]);
    expect(installed.filter(([, entry]) => !entry.integrity?.startsWith('sha512-'))).toEqual([]);
  });
});

describe('the lockfile test itself', () => {
  it('finds a missing binary at any depth, and a present one where npm would', () => {
    const packages = {
      'node_modules/a': { optionalDependencies: { 'bin-x': '1.0.0' } },
      'node_modules/a/node_modules/b': { optionalDependencies: { 'bin-y': '1.0.0', 'bin-z': '1.0.0' } },
      'node_modules/a/node_modules/bin-y': {},
      'node_modules/bin-z': {},
    };
    expect(missingOptionals(packages)).toEqual(['node_modules/a needs bin-x']);
  });
});

describe('package.json', () => {
  // @conforms toolchain.8
  it('allows or denies every install script by name', () => {
    // npm leaves the mark out of entries that it never unpacked here; fsevents has a script on macOS.
    const packages: Record<string, LockEntry> = JSON.parse(readText('package-lock.json')).packages;
    const withScript = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript);
    const names = withScript.map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
    const { allowScripts } = manifest;
    expect(names.filter((name) => typeof allowScripts[name] !== 'boolean')).toEqual([]);
    expect(Object.keys(allowScripts).filter((key) => key.lastIndexOf('@') > 0)).toEqual([]);
  });

  it('pins every version exactly', () => {
    const pins = [manifest, runtimeManifest].flatMap(
      ({ dependencies, devDependencies, optionalDependencies, overrides }) =>
        Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides }),
    );
    expect(pins.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual([]);
  });

  it('has the checksum of the program in every Node package', () => {
    const checksums: Record<string, string> = JSON.parse(readText('scripts/node-runtime/checksums.json'));
    expect(Object.keys(checksums)).toEqual(Object.keys(runtimeManifest.optionalDependencies));
    expect(Object.values(checksums).filter((checksum) => !/^[0-9a-f]{64}$/.test(checksum))).toEqual([]);
  });

  // @conforms toolchain.15
  it('is enough for `npm sbom`, which lists every locked package with its checksum', async () => {
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
    const { stdout } = await runProgram(findOnPath('npm'), args, { cwd: root });
    interface Part {
      readonly name: string;
      readonly hashes: readonly { readonly alg: string }[];
      readonly properties: readonly { readonly name: string }[];
    }
    const parts: readonly Part[] = JSON.parse(stdout).components;
    const packages: Record<string, LockEntry> = JSON.parse(readText('package-lock.json')).packages;
    const locked = Object.keys(packages).filter((place) => place !== '');
    const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    expect(parts.map(({ name }) => name).toSorted()).toEqual(locked.map(nameOf).toSorted());
    expect(parts.filter(({ hashes }) => hashes[0]?.alg !== 'SHA-512')).toEqual([]);
    const forRunning = parts.filter(({ properties }) => !properties.some(({ name }) => name === developmentMark));
    expect(forRunning.map(({ name }) => name).toSorted()).toEqual(
      locked
        .filter((place) => !packages[place]?.dev && !packages[place]?.devOptional)
        .map(nameOf)
        .toSorted(),
    );
  });

  it('agrees with both lockfiles', () => {
    for (const [lock, { dependencies, devDependencies, optionalDependencies }] of [
      [JSON.parse(readText('package-lock.json')), manifest],
      [JSON.parse(readText('scripts/node-runtime/package-lock.json')), runtimeManifest],
    ]) {
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
        expect([name, lock.packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
      }
    }
  });
});

describe('docs/dependencies.md', () => {
  const rows = readText('docs/dependencies.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const named = rows.map(([, name]) => name?.split('`')[1]);

  it('has one row for every dependency, and for nothing else', () => {
    const { dependencies, devDependencies, overrides } = manifest;
    const wanted = [dependencies, devDependencies, overrides, runtimeManifest.optionalDependencies].flatMap(
      Object.keys,
    );
    expect(named.toSorted()).toEqual(wanted.toSorted());
  });

  it('says in every row what it does, why this one, and what we would do without it', () => {
    expect(rows.filter((cells) => cells.length !== 6 || cells.slice(1, 5).includes(''))).toEqual([]);
  });

  it('gives the versions that are pinned', () => {
    for (const [name, version] of Object.entries({ ...manifest.overrides, ...runtimeManifest.optionalDependencies })) {
      expect(rows.map(([, cell]) => cell)).toContain(`\`${name}\` ${version}`);
    }
  });
});

function missingOptionals(packages: Readonly<Record<string, LockEntry>>): string[] {
  return Object.entries(packages).flatMap(([place, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => find(packages, place, name) === undefined)
      .map((name) => `${place} needs ${name}`),
  );
}

/** The entry that `name` means for the package at `place`: in its own node_modules, or the nearest one above. */
function find(packages: Readonly<Record<string, LockEntry>>, place: string, name: string): LockEntry | undefined {
  for (let folder = place; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const found = packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`];
    if (found !== undefined || folder === '') return found;
  }
}

/** The optional dependencies of a package that are for one platform each. */
function binariesOf(packages: Readonly<Record<string, LockEntry>>, place: string): LockEntry[] {
  return Object.keys(packages[place]?.optionalDependencies ?? {})
    .map((name) => find(packages, place, name) ?? {})
    .filter((entry) => entry.os !== undefined && entry.cpu !== undefined);
}

function platformsOf({ os = [], cpu = [] }: LockEntry): string[] {
  return [os].flat().flatMap((system) => [cpu].flat().map((processor) => `${system}-${processor}`));
}
