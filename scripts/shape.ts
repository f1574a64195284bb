// Prints the shape of src/: sizes, full folders, import cycles. `npm run shape`; with `-- --json` for programs.

import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Held by test/architecture/shape.test.ts: lower them as the code gets better, never raise them. */
export const shapeLimits = { filesInCycle: 3, filesInFolder: 25 };
const aims = { filesInCycle: 3, filesInFolder: 25, lines: 60_000 };
/** A file above this is listed as a warning: it may have more than one idea. */
const longFileLines = 400;
/** A file of at most this many lines with one importer in its folder usually belongs in that importer. */
const crumbLines = 30;
const foldersShown = 10;
const adapterTest = 'test/architecture/extra-adapters.test.ts';

const projectRoot = path.resolve(import.meta.dirname, '..');
const sourceRoot = path.join(projectRoot, 'src');

export interface SourceFile {
  /** Relative to src/, as are the imports. */
  readonly file: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly string[];
}

export function readSource(): readonly SourceFile[] {
  return globSync('**/*.ts', { cwd: sourceRoot })
    .toSorted()
    .map((file) => {
      const text = readFileSync(path.join(sourceRoot, file), 'utf8');
      return { file, text, lines: text.split('\n').length - 1, imports: importedFiles(file, text) };
    });
}

/** Everything a file imports, type imports and dynamic ones included. */
export function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)'(?<target>[^']+)'/gm)].map(
    ({ groups }) => groups?.target ?? '',
  );
}

/** The files of src/ that a file imports, without the packages. */
export function importedFiles(file: string, text: string): readonly string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
}

/** Sets of files that all import each other, directly or not; the largest first. */
export function importCycles(files: readonly Pick<SourceFile, 'file' | 'imports'>[]): readonly (readonly string[])[] {
  // Tarjan's algorithm: a component is complete when its first file reaches no file that was visited before it.
  const imports = new Map(files.map((each) => [each.file, each.imports]));
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    open.push(file);
    let lowest = own;
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue;
      if (!order.has(target)) lowest = Math.min(lowest, visit(target));
      else if (open.includes(target)) lowest = Math.min(lowest, order.get(target) ?? own);
    }
    if (lowest === own) {
      const component = open.splice(open.indexOf(file));
      if (component.length > 1) cycles.push(component.toSorted());
    }
    return lowest;
  };
  for (const { file } of files) if (!order.has(file)) visit(file);
  return cycles.toSorted((a, b) => b.length - a.length);
}

/** The number of files directly in each folder, the fullest first. */
export function folderSizes(files: readonly string[]): readonly (readonly [string, number])[] {
  return bySize(
    Map.groupBy(files, (file) => path.posix.dirname(file)),
    (inside) => inside.length,
  );
}

function bySize<T>(groups: Map<string, T>, size: (group: T) => number): readonly (readonly [string, number])[] {
  return [...groups].map(([name, group]) => [name, size(group)] as const).toSorted((a, b) => b[1] - a[1]);
}

function measure() {
  const files = readSource();
  const modules = Map.groupBy(files, ({ file }) => file.split('/')[0] ?? '');
  const importers = new Map<string, string[]>();
  for (const { file, imports } of files)
    for (const target of new Set(imports)) importers.set(target, [...(importers.get(target) ?? []), file]);
  const isCrumb = ({ file, lines }: SourceFile): boolean => {
    const [importer, ...others] = importers.get(file) ?? [];
    return lines <= crumbLines && others.length === 0 && path.dirname(importer ?? '') === path.dirname(file);
  };
  const lengths = files.map(({ lines }) => lines).toSorted((a, b) => a - b);
  const largest = files.reduce((longest, each) => (each.lines > longest.lines ? each : longest));
  const [cycle = []] = importCycles(files);
  return {
    lines: lengths.reduce((sum, lines) => sum + lines, 0),
    files: files.length,
    modules: bySize(modules, (inside) => inside.reduce((sum, { lines }) => sum + lines, 0)).map(([module, lines]) => ({
      module,
      lines,
      files: modules.get(module)?.length ?? 0,
    })),
    folders: folderSizes(files.map(({ file }) => file)).slice(0, foldersShown),
    longestCycle: cycle,
    medianFile: lengths[Math.floor(lengths.length / 2)] ?? 0,
    largestFile: { file: largest.file, lines: largest.lines },
    longFiles: files.filter(({ lines }) => lines > longFileLines).map(({ file, lines }) => ({ file, lines })),
    crumbs: files.filter(isCrumb).map(({ file }) => file),
    literalSpreads: literalSpreads(files).length,
    adapterFiles: adapterFiles(),
  };
}

/** Where the fields of a literal are spread to fit on fewer lines, as `file:line`. */
export function literalSpreads(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, at) => (line.includes('...{') ? `${file}:${at + 1}` : [])),
  );
}

/** The files that a new adapter touches: the `// @touches <file>` lines of the test that registers two; null without it. */
function adapterFiles(): number | null {
  const file = path.join(projectRoot, adapterTest);
  if (!existsSync(file)) return null;
  return readFileSync(file, 'utf8').match(/^\/\/ @touches /gm)?.length ?? 0;
}

function print(shape: ReturnType<typeof measure>): void {
  const row = (name: string, ...cells: readonly (number | string)[]): void =>
    console.log(`  ${name.padEnd(28)}${cells.map((cell) => String(cell).padStart(8)).join('')}`.trimEnd());
  console.log(`src/: ${shape.lines} lines (aim ${aims.lines}) in ${shape.files} files\n`);
  row('module', 'lines', 'files');
  for (const { module, lines, files } of shape.modules) row(module, lines, files);
  console.log(`\nFullest folders (limit ${shapeLimits.filesInFolder}, aim ${aims.filesInFolder})`);
  for (const [folder, files] of shape.folders) row(folder, files);
  const limits = `limit ${shapeLimits.filesInCycle}, aim ${aims.filesInCycle}`;
  console.log(`\nLongest import cycle: ${shape.longestCycle.length} files (${limits})`);
  for (const file of shape.longestCycle) row(file);
  console.log(`\nMedian file: ${shape.medianFile} lines`);
  console.log(`Largest file: ${shape.largestFile.file}, ${shape.largestFile.lines} lines`);
  for (const { file, lines } of shape.longFiles)
    console.log(`Warning: ${file} has ${lines} lines, more than ${longFileLines}`);
  console.log(`\nFiles of at most ${crumbLines} lines with one importer, in the same folder: ${shape.crumbs.length}`);
  for (const file of shape.crumbs) row(file);
  console.log(`\nSpreads of an object literal (...{ a, b }): ${shape.literalSpreads}`);
  console.log(
    shape.adapterFiles === null
      ? `Files that a new adapter touches: not known, there is no ${adapterTest}`
      : `Files that a new adapter touches: ${shape.adapterFiles}`,
  );
}

if (import.meta.main) {
  const shape = measure();
  if (process.argv.includes('--json')) console.log(JSON.stringify(shape, null, 2));
  else print(shape);
}
