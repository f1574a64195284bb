import { Fragment, type VNode } from 'preact';
import { hasSeveralProjects, shownProjects } from '../../data/connection/live.ts';
import { Text } from './text.tsx';

/** The same for every project that is shown; with its name over it where there are several. */
export function EachProject({ render }: { readonly render: (project: string) => VNode }): VNode {
  return (
    <>
      {shownProjects.value.map(({ project }) => (
        <Fragment key={project}>
          {hasSeveralProjects.value && (
            <h2 class="of-project">
              <Text text={project} />
            </h2>
          )}
          {render(project)}
        </Fragment>
      ))}
    </>
  );
}
