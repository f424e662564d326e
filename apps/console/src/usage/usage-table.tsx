import type { JSX } from 'react';
import type { UsageGroup } from './usage-queries.js';

interface UsageTableProps {
  /** For screen readers. */
  readonly label: string;
  /** Of the first column. */
  readonly name: string;
  readonly groups: readonly UsageGroup[];
  readonly labelOf: (group: UsageGroup) => string;
}

/** Groups of usage as a table of few rows. */
export const UsageTable = ({ label, name, groups, labelOf }: UsageTableProps): JSX.Element => (
  <div className="plain-table" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">Sessions</th>
          <th scope="col">Approved</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={labelOf(group)}>
            <th scope="row">{labelOf(group)}</th>
            <td>{group.verifications.total.toLocaleString('en')}</td>
            <td>{group.verifications.approved.toLocaleString('en')}</td>
            <td>${group.estimatedCostUsd}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
