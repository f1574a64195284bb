import type { ApiClient } from '../../client/api-client.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { TopSource } from './top-source.ts';

const lastEvents = 50;

/** The terminal view over the API of a daemon. `log` returns new lines of the daemon's log, for a view inside it. */
export function clientSource(client: ApiClient, log: () => readonly string[] = () => []): TopSource {
  let address: string | null = null;
  return {
    get address() {
      return address;
    },
    now: async () => {
      try {
        const projects = (await client.projects()).map(({ name }) => client.project(name));
        address ??= (await projects[0]?.status())?.api ?? null;
        return await Promise.all(projects.map((project) => project.now()));
      } catch (thrown) {
        // The next daemon may have another address.
        address = null;
        throw thrown;
      }
    },
    issue: (project, issue) => client.project(project).issue(issue),
    events: (project, run) => client.project(project).lastEvents(run, lastEvents),
    log,
    submit: async (project, request) => {
      try {
        const { status, text } = await client.project(project).submit(request);
        return { status, text };
      } catch (thrown) {
        if (!(thrown instanceof BatonError) || thrown.code === 'daemon_unreachable') throw thrown;
        return { status: 'refused', text: thrown.message };
      }
    },
  };
}
