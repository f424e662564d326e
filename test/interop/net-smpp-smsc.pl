#!/usr/bin/perl
# An SMSC on Net::SMPP: takes one bind after the other, answers every submit_sm, tells what came, and delivers what it is
# told on its standard input, a line each.
#   net-smpp-smsc.pl SYSTEM_ID PASSWORD
use strict;
use warnings;
use IO::Select;
use Net::SMPP;

$| = 1;
my ($system_id, $password) = @ARGV;
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0, timeout => 3600) or die "cannot listen: $!\n";
printf "listening %d\n", $listener->sockport;

my %BIND = (0x01 => 'bind_receiver_resp', 0x02 => 'bind_transmitter_resp', 0x09 => 'bind_transceiver_resp');
my ($peer, $count) = (undef, 0);
my $waiting = IO::Select->new($listener, \*STDIN);

sub gone {
    print "gone\n";
    $waiting->remove($peer);
    close $peer;
    $peer = undef;
}

sub serve {
    my $pdu = $peer->read_pdu() or return gone();
    my ($cmd, $seq) = ($pdu->{cmd}, $pdu->{seq});
    if (my $answer = $BIND{$cmd}) {
        my $right = $pdu->{system_id} eq $system_id && $pdu->{password} eq $password;
        $peer->$answer(system_id => 'NETSMPP', seq => $seq, status => $right ? 0 : 0x0e);
        printf "bound %d\n", $right ? 0 : 0x0e;
    }
    elsif ($cmd == 0x04) {
        my $id = sprintf 'np-%d', $count++;
        # Told before it is answered: whoever acts on the answer finds it told.
        printf "submitted %s %s %s %s %d\n", $id, $pdu->{source_addr}, $pdu->{destination_addr},
          unpack('H*', $pdu->{short_message}), $pdu->{registered_delivery};
        $peer->submit_sm_resp(message_id => $id, seq => $seq);
    }
    elsif ($cmd == 0x80000005) { printf "delivered %d\n", $pdu->{status}; }
    elsif ($cmd == 0x15) { $peer->enquire_link_resp(seq => $seq); print "enquired\n"; }
    elsif ($cmd == 0x06) { $peer->unbind_resp(seq => $seq); print "unbound\n"; }
    elsif ($cmd == 0x80000006) { gone(); }
}

sub command {
    my $line = '';
    # Unbuffered, as select sees it.
    while (sysread STDIN, my $character, 1) {
        last if $character eq "\n";
        $line .= $character;
    }
    exit 0 if $line eq '';
    my ($command, $from, $to, $hex, $esm_class) = split / /, $line;
    if ($command eq 'deliver') {
        $peer->deliver_sm(
            source_addr_ton => 1, source_addr_npi => 1, source_addr => $from,
            dest_addr_ton => 1, dest_addr_npi => 1, destination_addr => $to,
            esm_class => $esm_class, short_message => pack('H*', $hex), async => 1,
        );
    }
    elsif ($command eq 'enquire') { $peer->enquire_link(async => 1); print "asked\n"; }
    elsif ($command eq 'unbind') { $peer->unbind(async => 1); }
}

while (my @ready = $waiting->can_read()) {
    for my $handle (@ready) {
        if ($handle == $listener) {
            my $next = $listener->accept() or next;
            gone() if defined $peer;
            $peer = $next;
            $waiting->add($peer);
        }
        elsif (defined $peer && $handle == $peer) { serve(); }
        elsif ($handle == \*STDIN) { command(); }
    }
}
