// Runs many seeds and prints what happened in them: `npm run simulate -- --seeds 10000 --from 1`. With `--trace` every
// event of each seed is printed. With `--github` seeds without GitHub are left out,
// with `--pipeline` those without phases, with `--planner` those without a planner, with `--tasks` those without intakes and
// scans, with `--special` those without any of these and without a judge. Exits with 1 if a rule is broken, and prints the command that repeats it.
import { parseArgs } from 'node:util';
import { describeBroken } from './broken-rule.ts';
import { drawPipeline } from './pipeline/pipeline-plan.ts';
import { drawPlan } from './plan.ts';
import { drawReview } from './review/review-plan.ts';
import { runSeed, type SeedResult } from './run-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    github: { type: 'boolean', default: false },
    pipeline: { type: 'boolean', default: false },
    planner: { type: 'boolean', default: false },
    tasks: { type: 'boolean', default: false },
    special: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const count = Number(values.seeds);
const broken: SeedResult[] = [];
const totals = new Map<string, number>();
const add = (name: string, by: number): void => void totals.set(name, (totals.get(name) ?? 0) + by);

process.on('unhandledRejection', (error) => {
  console.error('A promise without an owner was rejected:', error);
  process.exit(1);
});

const beganAt = performance.now();
let last = from;
for (let seed = from, left = count; left > 0; seed += 1) {
  if (values.github && drawReview(seed)?.github == null) continue;
  if (values.pipeline && drawPipeline(seed) === null) continue;
  if (values.planner && drawPlan(seed).planner === null) continue;
  if (values.tasks && drawPlan(seed).tasks === null) continue;
  if (values.special && !isSpecial(seed)) continue;
  left -= 1;
  last = seed;
  const result = await runSeed(seed, { print: values.trace ? (line) => console.log(line) : undefined });
  add('seeds', 1);
  add('steps', result.steps);
  add('runs', result.runs);
  for (const [name, times] of result.counts) add(name, times);
  if (values.trace) console.log(`seed ${seed}: ${result.hash}`);
  if (result.broken === null) continue;
  broken.push(result);
  console.error(describeBroken(result.broken));
  console.error(`  again: npm run simulate -- --seeds 1 --from ${seed} --trace`);
}
add('broken', broken.length);

const width = Math.max(...[...totals.keys()].map((name) => name.length));
for (const [name, times] of totals) console.log(`${name.padEnd(width)}  ${times}`);
console.log(`the last seed was ${last}`);
console.log(`${((performance.now() - beganAt) / count).toFixed(0)} ms a seed`);
process.exitCode = broken.length === 0 ? 0 : 1;

/** Whether it has judges, phases, a planner or tasks. */
function isSpecial(seed: number): boolean {
  const { review, pipeline, planner, tasks } = drawPlan(seed);
  return review?.judge != null || pipeline !== null || planner !== null || tasks !== null;
}
