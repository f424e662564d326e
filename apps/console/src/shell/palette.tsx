import { useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Input,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from 'react-aria-components';
import { Icon, type IconName } from '../ui/icons.js';
import type { Page } from './pages.js';

interface Command {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  readonly shortcut?: string;
  readonly run: () => void;
}

/** The commands for a text: these pages, and a search of sessions and messages for a phone or an id. */
function useCommands(of: readonly Page[], text: string): readonly Command[] {
  const navigate = useNavigate();
  const term = text.trim();
  const pages = of.map(({ to, name, icon, key }) => ({
    ...{ id: to, name, icon, shortcut: `g ${key}` },
    run: () => void navigate({ to }),
  }));
  // Developers have no pages of sessions and messages.
  if (!of.some(({ to }) => to === '/sessions')) return pages;
  if (/^sess_\w+$/.test(term)) {
    const open = (): void => void navigate({ to: '/sessions/$id', params: { id: term } });
    return [{ id: 'session', name: `Open the session ${term}`, icon: 'sessions', run: open }, ...pages];
  }
  if (!/^\+?\d{4,}$/.test(term)) return pages;
  const phone = term.startsWith('+') ? term : `+${term}`;
  const search = (to: '/sessions' | '/messages') => (): void => void navigate({ to, search: { phone } });
  return [
    { id: 'find-sessions', name: `Sessions of ${phone}`, icon: 'sessions', run: search('/sessions') },
    { id: 'find-messages', name: `Messages of ${phone}`, icon: 'messages', run: search('/messages') },
    ...pages,
  ];
}

interface PaletteProps {
  readonly pages: readonly Page[];
  readonly onClose: () => void;
}

/** A dialog that finds pages, phones and ids by the keyboard. */
export default function Palette({ pages, onClose }: PaletteProps): JSX.Element {
  const [text, setText] = useState('');
  const commands = useCommands(pages, text);
  const { contains } = useFilter({ sensitivity: 'base' });
  const run = (id: string | number): void => {
    onClose();
    commands.find((each) => each.id === id)?.run();
  };
  return (
    <ModalOverlay className="palette-shade" isOpen isDismissable onOpenChange={onClose}>
      <Modal className="palette">
        <Dialog aria-label="Commands">
          <Autocomplete
            inputValue={text}
            onInputChange={setText}
            filter={(name, typed) => /^\W*\d|_/.test(typed) || contains(name, typed)}
          >
            <SearchField aria-label="Find a page, a phone or an id" autoFocus>
              <Input placeholder="Find a page, a phone or an id" />
            </SearchField>
            <Menu
              items={commands}
              dependencies={[commands]}
              onAction={run}
              renderEmptyState={() => (
                <p className="empty">Nothing has that name. A phone begins with +, a session with sess_.</p>
              )}
            >
              {({ id, name, icon, shortcut }) => (
                <MenuItem id={id} textValue={name}>
                  <Icon name={icon} />
                  {name}
                  {shortcut !== undefined && <kbd>{shortcut}</kbd>}
                </MenuItem>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
