import { type JSX, useState } from 'react';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { CheckField, FieldRow, InputField, SelectField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import { type FormValues, given } from '../ui/form-values.js';
import { useIsAtLeast } from '../ui/role.js';
import { Secret } from '../ui/secret.js';
import { createSystem, type System, updateSystem } from './system-queries.js';

const BIND_TYPES = ['transceiver', 'transmitter', 'receiver'] as const;
const FORMATS = ['auto', 'international', 'national'] as const;

/** Trust is sent when it changes alone, because only owners may change it. */
function settingsOf(values: FormValues, system: System | null) {
  const trusted = values.isChecked('trustedForMo');
  const allowedCidrs = values.list('allowedCidrs');
  const isSame = JSON.stringify(allowedCidrs) === JSON.stringify(system?.allowedCidrs ?? []);
  return given({
    systemId: values.text('systemId'),
    carrier: values.text('carrier') === '' ? undefined : values.text('carrier'),
    allowedCidrs: isSame ? undefined : allowedCidrs,
    bindTypes: BIND_TYPES.filter((type) => values.isChecked(type)),
    maxConnections: values.number('maxConnections'),
    submitPerSecond: values.number('submitPerSecond') ?? null,
    deliverPerSecond: values.number('deliverPerSecond'),
    window: values.number('window'),
    senderFormat: values.choice('senderFormat', FORMATS),
    tlsRequired: values.isChecked('tlsRequired'),
    enabled: values.isChecked('enabled'),
    trustedForMo: trusted === (system?.trustedForMo ?? false) ? undefined : trusted,
  });
}

interface FormProps {
  /** Null for a new one. */
  readonly system: System | null;
  readonly onClose: () => void;
  readonly onPassword: (password: string) => void;
}

function SystemForm({ system, onClose, onPassword }: FormProps): JSX.Element {
  const isOwner = useIsAtLeast('owner');
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues) => {
      const settings = settingsOf(values, system);
      return system === null ? createSystem(settings) : updateSystem(system.id, settings);
    },
    done: ({ systemId, password }) => {
      onClose();
      if (password !== undefined) onPassword(password);
      return `${systemId} is saved.`;
    },
    changes: ['systems'],
  });
  return (
    <FormDialog
      title={system === null ? 'Create a system' : `Edit ${system.systemId}`}
      act={system === null ? 'Create' : 'Save'}
      lead={system === null ? 'Its password is generated, and shown once.' : undefined}
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <FieldRow>
        <InputField name="systemId" label="system_id" value={system?.systemId} placeholder="acme" isRequired />
        <InputField name="carrier" label="Carrier" value={system?.carrier} placeholder="north" />
      </FieldRow>
      <InputField
        name="allowedCidrs"
        label="Allowed networks"
        value={system?.allowedCidrs.join(', ')}
        placeholder="192.0.2.0/24"
        hint="Networks or addresses, separated by commas. Empty: any."
      />
      <Limits system={system} />
      <fieldset className="choices">
        <legend>Bind types</legend>
        {BIND_TYPES.map((type) => (
          <CheckField key={type} name={type} label={type} isChecked={system?.bindTypes.includes(type) ?? true} />
        ))}
      </fieldset>
      <CheckField name="tlsRequired" label="TLS port only" isChecked={system?.tlsRequired ?? false} />
      <CheckField name="enabled" label="Enabled" isChecked={system?.enabled ?? true} />
      {isOwner && (
        <CheckField
          name="trustedForMo"
          label="Approves sessions"
          hint="Needs narrow networks, or TLS with a client certificate."
          isChecked={system?.trustedForMo ?? false}
        />
      )}
    </FormDialog>
  );
}

const Limits = ({ system }: Pick<FormProps, 'system'>): JSX.Element => (
  <FieldRow>
    <InputField
      name="maxConnections"
      label="Connections"
      type="number"
      min={1}
      max={1_000}
      value={system?.maxConnections ?? 4}
    />
    <InputField
      name="submitPerSecond"
      label="Accepted a second"
      type="number"
      min={1}
      max={100_000}
      value={system?.submitPerSecond}
      hint="Empty: no limit."
    />
    <InputField
      name="deliverPerSecond"
      label="Codes a second"
      type="number"
      min={1}
      max={100_000}
      value={system?.deliverPerSecond ?? 50}
    />
    <InputField name="window" label="Window" type="number" min={1} max={1_000} value={system?.window ?? 10} />
    <SelectField
      name="senderFormat"
      label="Sender format"
      value={system?.senderFormat}
      choices={FORMATS.map((each) => [each, each])}
    />
  </FieldRow>
);

/** A button with the form of a system, and its generated password once. */
export function EditSystem({ system }: { readonly system: System | null }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState<string | null>(null);
  return (
    <>
      <Button kind={system === null ? 'solid' : 'quiet'} onPress={() => setOpen(true)}>
        {system === null ? 'Create a system' : 'Edit'}
        {system !== null && <span className="visually-hidden"> {system.systemId}</span>}
      </Button>
      {isOpen && <SystemForm system={system} onClose={() => setOpen(false)} onPassword={setPassword} />}
      {password !== null && (
        <Secret title="The password of the system" secret={password} onClose={() => setPassword(null)} />
      )}
    </>
  );
}
