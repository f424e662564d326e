import { type JSX, useState } from 'react';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { CheckField, FieldRow, InputField, SelectField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import { type FormValues, given } from '../ui/form-values.js';
import { useIsAtLeast } from '../ui/role.js';
import { type Bind, type BindChange, createBind, updateBind } from './bind-queries.js';
import { hostsOf, shownHosts } from './hosts.js';

const BIND_TYPES = ['transceiver', 'transmitter', 'receiver'] as const;
const VERSIONS = ['3.4', '3.3', '5.0'] as const;
const ALPHABETS = ['gsm', 'latin1', 'ascii', 'gsm-packed'] as const;
const ID_BASES = ['as-is', 'hex-to-dec', 'dec-to-hex'] as const;
const SENDER_FORMATS = ['auto', 'international', 'national'] as const;

const choicesOf = (values: readonly string[]): readonly (readonly [string, string])[] =>
  values.map((each) => [each, each]);

/** The fields of the form; trust is sent when it changes alone, because only owners may change it. */
function settingsOf(values: FormValues, bind: Bind | null): BindChange {
  const trusted = values.isChecked('trustedForMo');
  const tls = values.isChecked('tls');
  const hosts = values.text('hosts');
  return given({
    name: values.text('name'),
    carrier: values.text('carrier'),
    ...(hosts === shownHosts(bind?.hosts ?? []) ? {} : { hosts: hostsOf(hosts) }),
    systemId: values.text('systemId'),
    ...(values.text('password') === '' ? {} : { password: values.text('password') }),
    bindType: values.choice('bindType', BIND_TYPES),
    interfaceVersion: values.choice('interfaceVersion', VERSIONS),
    systemType: values.text('systemType'),
    addressRange: values.text('addressRange'),
    connections: values.number('connections'),
    window: values.number('window'),
    submitPerSecond: values.number('submitPerSecond'),
    enquireLinkSeconds: values.number('enquireLinkSeconds'),
    responseTimeoutSeconds: values.number('responseTimeoutSeconds'),
    defaultAlphabet: values.choice('defaultAlphabet', ALPHABETS),
    messageIdBase: values.choice('messageIdBase', ID_BASES),
    senderFormat: values.choice('senderFormat', SENDER_FORMATS),
    ...(tls === (bind?.tls.enabled ?? false) ? {} : { tls: { enabled: tls } }),
    ...(trusted === (bind?.trustedForMo ?? false) ? {} : { trustedForMo: trusted }),
  });
}

interface FormProps {
  /** Null for a new one. */
  readonly bind: Bind | null;
  readonly onClose: () => void;
}

function BindForm({ bind, onClose }: FormProps): JSX.Element {
  const isOwner = useIsAtLeast('owner');
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues) => {
      const settings = settingsOf(values, bind);
      if (bind !== null) return updateBind(bind.id, settings);
      const { hosts = [], password = '', systemId = '' } = settings;
      return createBind({ ...settings, hosts, password, systemId });
    },
    done: ({ name }) => {
      onClose();
      return bind === null ? `${name} is created; gateways connect within 2 s.` : `${name} is saved.`;
    },
    changes: ['binds'],
  });
  return (
    <FormDialog
      title={bind === null ? 'Create a bind' : `Edit ${bind.name}`}
      act={bind === null ? 'Create' : 'Save'}
      lead={
        bind === null
          ? 'The carrier gives the hosts, the system_id and the password.'
          : 'A change of the hosts, the account or the type makes the connections bind again.'
      }
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <FieldRow>
        <InputField name="name" label="Name" value={bind?.name} placeholder="north 1" isRequired />
        <InputField name="carrier" label="Carrier" value={bind?.carrier} placeholder="north" isRequired />
      </FieldRow>
      <Account bind={bind} />
      <Throughput bind={bind} />
      <More bind={bind} />
      <CheckField
        name="tls"
        label="TLS"
        hint="Certificates are set by the API."
        isChecked={bind?.tls.enabled ?? false}
      />
      {isOwner && (
        <CheckField
          name="trustedForMo"
          label="Approves sessions"
          hint="SMS over this bind may approve sessions: the carrier must verify senders."
          isChecked={bind?.trustedForMo ?? false}
        />
      )}
    </FormDialog>
  );
}

type Of = Pick<FormProps, 'bind'>;

const Account = ({ bind }: Of): JSX.Element => (
  <>
    <InputField
      name="hosts"
      label="Hosts"
      value={shownHosts(bind?.hosts ?? [])}
      placeholder="smsc.north.example:2775"
      hint="Host and port; several are separated by commas."
      isRequired={bind?.outbind == null}
    />
    <FieldRow>
      <InputField name="systemId" label="system_id" value={bind?.systemId} isRequired />
      <InputField
        name="password"
        label="Password"
        type="password"
        hint={bind === null ? 'Up to 8 characters.' : 'Empty keeps it.'}
        isRequired={bind === null}
      />
    </FieldRow>
  </>
);

const Throughput = ({ bind }: Of): JSX.Element => (
  <FieldRow>
    <InputField name="connections" label="Connections" type="number" min={1} max={32} value={bind?.connections ?? 1} />
    <WindowField bind={bind} />
    <RateField bind={bind} />
  </FieldRow>
);

const WindowField = ({ bind }: Of): JSX.Element => (
  <InputField name="window" label="Window" type="number" min={1} max={1_000} value={bind?.window ?? 10} />
);

const RateField = ({ bind }: Of): JSX.Element => (
  <InputField
    name="submitPerSecond"
    label="Codes a second"
    type="number"
    min={1}
    max={10_000}
    value={bind?.submitPerSecond ?? 50}
  />
);

const More = ({ bind }: Of): JSX.Element => (
  <details className="form-more">
    <summary>More settings</summary>
    <FieldRow>
      <SelectField name="bindType" label="Type" value={bind?.bindType} choices={choicesOf(BIND_TYPES)} />
      <SelectField name="interfaceVersion" label="SMPP" value={bind?.interfaceVersion} choices={choicesOf(VERSIONS)} />
      <InputField name="systemType" label="system_type" value={bind?.systemType} />
      <InputField name="addressRange" label="address_range" value={bind?.addressRange} />
      <InputField
        name="enquireLinkSeconds"
        label="enquire_link after (s)"
        type="number"
        min={1}
        max={3_600}
        value={bind?.enquireLinkSeconds ?? 30}
      />
      <InputField
        name="responseTimeoutSeconds"
        label="Response timeout (s)"
        type="number"
        min={1}
        max={300}
        value={bind?.responseTimeoutSeconds ?? 10}
      />
      <SelectField
        name="defaultAlphabet"
        label="Default alphabet"
        value={bind?.defaultAlphabet}
        choices={choicesOf(ALPHABETS)}
      />
      <SelectField name="messageIdBase" label="Message ids" value={bind?.messageIdBase} choices={choicesOf(ID_BASES)} />
      <SelectField
        name="senderFormat"
        label="Sender format"
        value={bind?.senderFormat}
        choices={choicesOf(SENDER_FORMATS)}
      />
    </FieldRow>
  </details>
);

function LoadForm({ bind, onClose }: FormProps & { readonly bind: Bind }): JSX.Element {
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues) =>
      updateBind(
        bind.id,
        given({ window: values.number('window'), submitPerSecond: values.number('submitPerSecond') }),
      ),
    done: ({ name, window, submitPerSecond }) => {
      onClose();
      return `${name}: window ${String(window)}, ${String(submitPerSecond)} codes a second.`;
    },
    changes: ['binds'],
  });
  return (
    <FormDialog
      title={`Window and rate of ${bind.name}`}
      act="Save"
      lead="The window is of each connection, the rate of all together. Both take effect within seconds, without a new bind."
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <FieldRow>
        <WindowField bind={bind} />
        <RateField bind={bind} />
      </FieldRow>
    </FormDialog>
  );
}

const FORMS = { settings: BindForm, load: LoadForm } as const;

interface EditProps {
  readonly bind: Bind;
  /** All settings, or the window and the rate alone. */
  readonly of: keyof typeof FORMS;
}

/** A button that opens a form, for operators and owners. */
export function EditBind({ bind, of }: EditProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (!useIsAtLeast('operator')) return null;
  const Form = FORMS[of];
  return (
    <>
      <Button onPress={() => setOpen(true)}>{of === 'load' ? 'Window and rate' : 'Edit'}</Button>
      {isOpen && <Form bind={bind} onClose={() => setOpen(false)} />}
    </>
  );
}

export function NewBind(): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (!useIsAtLeast('operator')) return null;
  return (
    <>
      <Button kind="solid" onPress={() => setOpen(true)}>
        Create a bind
      </Button>
      {isOpen && <BindForm bind={null} onClose={() => setOpen(false)} />}
    </>
  );
}
