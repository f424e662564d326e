import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { brandsQuery } from '../api/names.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { ChoiceField, Filters, TextField } from '../ui/filters.js';
import { Badge, Facts, Panel } from '../ui/layout.js';
import { Loaded } from '../ui/states.js';
import {
  type Candidate,
  DECISION_NAMES,
  DECISION_TONES,
  type Resolution,
  resolutionQuery,
  VERDICT_TONES,
} from './route-queries.js';

const route = getRouteApi('/shell/routes');

/** The route that a code to a phone would take, and why. Sends nothing. */
export function Resolve(): JSX.Element {
  const { phone, brandId } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: brands = [] } = useQuery(brandsQuery);
  const choices = [['', 'Any brand'] as const, ...brands.map(({ id, name }) => [id, name] as const)];
  return (
    <Panel title="Which route would a code take?">
      <Filters<'phone' | 'brandId'> onApply={(values) => void navigate({ search: values })}>
        <TextField name="phone" label="Phone" value={phone} placeholder="+14155552671" />
        <ChoiceField name="brandId" label="Brand" value={brandId} choices={choices} />
      </Filters>
      {phone !== undefined && <Answer phone={phone} brandId={brandId} />}
    </Panel>
  );
}

function Answer({ phone, brandId }: { readonly phone: string; readonly brandId: string | undefined }): JSX.Element {
  const query = useQuery(resolutionQuery(phone, brandId));
  return (
    <Loaded query={query} what="the way of a code">
      {(resolution) => <Way resolution={resolution} />}
    </Loaded>
  );
}

const Way = ({ resolution }: { readonly resolution: Resolution }): JSX.Element => {
  const { decision, reason, country, guard, queuePaused, candidates, chosen } = resolution;
  return (
    <>
      <p role="status">
        <Badge tone={DECISION_TONES[decision]}>{DECISION_NAMES[decision]}</Badge> {reason}
      </p>
      <Facts
        of={[
          ['Country', country],
          ['Guard', guard.refusedBy === null ? 'allows it' : `refused by ${guard.refusedBy.replaceAll('_', ' ')}`],
          ['Queue', queuePaused ? 'paused' : 'running'],
          ['Sender', chosen === null ? '–' : (chosen.sourceAddress ?? 'brand’s')],
          ['Cost', chosen === null ? '–' : `$${chosen.costUsd}`],
          ['Price', chosen?.priceUsd === null || chosen === null ? '–' : `$${chosen.priceUsd}`],
        ]}
      />
      {candidates.length > 0 && (
        <DataTable label="Routes that match" columns={COLUMNS} rows={candidates} keyOf={({ routeId }) => routeId} />
      )}
    </>
  );
};

const COLUMNS: readonly Column<Candidate>[] = [
  {
    name: 'Bind or system',
    cell: ({ linkName, carrier }) => (
      <>
        <strong>{linkName}</strong> <span className="soft small">{carrier}</span>
      </>
    ),
  },
  { name: 'Verdict', cell: ({ verdict }) => <Badge tone={VERDICT_TONES[verdict]}>{verdict}</Badge> },
  { name: 'Why', cell: ({ reason, verdict }) => reason ?? (verdict === 'next' ? 'if those before it fail' : '–') },
  { name: 'Prefix', cell: ({ prefix }) => <span className="mono">{prefix}</span> },
  { name: 'Priority', align: 'end', cell: ({ priority }) => priority },
  { name: 'Weight', align: 'end', cell: ({ weight }) => weight },
  { name: 'Link', cell: ({ linkState, connectionsBound }) => `${linkState}, ${String(connectionsBound)} bound` },
];
