import type { VNode } from 'preact';
import { EachProject } from '../parts/shared/each-project.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { SystemAccounts } from './system-accounts.tsx';
import { SystemCommands } from './system-commands.tsx';
import { SystemConfiguration } from './system-configuration.tsx';
import { SystemHealth } from './system-health.tsx';
import { SystemJobs } from './system-jobs.tsx';
import { SystemPrompts } from './system-prompts.tsx';
import { SystemRequests } from './system-requests.tsx';
import { SystemSalvage } from './system-salvage.tsx';

/** The state of Baton itself: health, jobs, requests, accounts, settings, prompts, saved work and commands. */
export function SystemScreen(): VNode {
  return (
    <div class="screen system">
      <h1 tabIndex={-1}>System</h1>
      <Tabs
        label="Parts of the system"
        tabs={[
          {
            name: 'health',
            label: 'Health',
            content: () => <EachProject render={(name) => <SystemHealth project={name} />} />,
          },
          {
            name: 'jobs',
            label: 'Jobs',
            content: () => <EachProject render={(name) => <SystemJobs project={name} />} />,
          },
          {
            name: 'requests',
            label: 'Requests',
            content: () => <EachProject render={(name) => <SystemRequests project={name} />} />,
          },
          { name: 'accounts', label: 'Accounts', content: () => <SystemAccounts /> },
          { name: 'configuration', label: 'Configuration', content: () => <SystemConfiguration /> },
          {
            name: 'prompts',
            label: 'Prompts',
            content: () => <EachProject render={(name) => <SystemPrompts project={name} />} />,
          },
          {
            name: 'salvage',
            label: 'Salvage',
            content: () => <EachProject render={(name) => <SystemSalvage project={name} />} />,
          },
          {
            name: 'commands',
            label: 'Commands',
            content: () => <EachProject render={(name) => <SystemCommands project={name} />} />,
          },
        ]}
      />
    </div>
  );
}
