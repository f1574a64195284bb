import { setting } from './setting.ts';

/** The section `pipeline`: phases before the work itself. There are none unless `pipeline.phases` lists some. */
export const pipelineKeys = {
  phases: setting('phase_list', [], 'next run', 'guarded', {
    description:
      'The phases that an issue goes through before it is `ready` for its worker, in this order. Empty: none. Each costs at least one run; see [the pipeline](pipeline.md).',
  }),
  entry: setting('text', null, 'next run', 'open', {
    description: 'The phase in which an issue without a phase label begins.',
    defaultText: 'the first phase',
  }),
  max_revisions: setting('natural_number', 2, 'at once', 'guarded_upwards', {
    description: 'How often the artifact of a phase is sent back to its agent. After that a person decides.',
  }),
  revision_expiry_ms: setting('natural_number', 3_600_000, 'next tick', 'open', {
    description:
      'How long after an artifact was sent back Baton removes the label `needs-revision`. The reasons stay. `0`: never.',
  }),
  commit_artifacts: setting('boolean', false, 'next run', 'open', {
    description:
      'Whether agents commit their artifacts with the change. `false`: only Baton keeps them, and git ignores `.baton/`.',
  }),
};
