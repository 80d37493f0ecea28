use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The base address of a server, such as `http://192.168.1.5:7777/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: &'static str,
    /// In lower case; with the port unless it is the default of the scheme.
    authority: String,
}

/// The error for a text that is no address of a server.
#[derive(Debug)]
pub struct BadUrl(String);

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for BadUrl {}

impl BaseUrl {
    fn http(host: &str, port: u16) -> BaseUrl {
        let authority = if port == 80 { host.to_owned() } else { format!("{host}:{port}") };
        BaseUrl { scheme: "http", authority }
    }

    fn of_address(address: SocketAddr) -> BaseUrl {
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => BaseUrl::http(&ip.to_string(), address.port()),
            IpAddr::V6(ip) => BaseUrl::http(&format!("[{ip}]"), address.port()),
        }
    }

    /// The `Host` header of requests to it.
    pub fn host(&self) -> &str {
        &self.authority
    }

    /// The `Origin` header of requests from its pages.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.origin())
    }
}

impl std::str::FromStr for BaseUrl {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<BaseUrl, BadUrl> {
        let refused = |why: &str| Err(BadUrl(format!("{text}: {why}; write it like `https://table.example.org`")));
        let (scheme, default, rest) = if let Some(rest) = text.strip_prefix("https://") {
            ("https", ":443", rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            ("http", ":80", rest)
        } else {
            return refused("it begins neither with `http://` nor with `https://`");
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#']) {
            return refused("the page has to be at the top, without a path");
        }
        let authority = authority.strip_suffix(default).unwrap_or(authority).to_ascii_lowercase();
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (&*authority, None),
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
        let is_v6 = name.starts_with('[')
            && name.ends_with(']')
            && name[1..name.len() - 1].parse::<std::net::Ipv6Addr>().is_ok();
        if name.is_empty() || !(name.chars().all(plain) || is_v6) {
            return refused("it has no name of a computer");
        }
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return refused("the port is no number from 1 to 65535");
        }
        Ok(BaseUrl { scheme, authority })
    }
}

/// The addresses of a running server.
#[derive(Clone, Debug)]
pub struct Addresses {
    port: u16,
    /// The address for phones: of the network, of a tunnel, or else of this computer.
    shared: BaseUrl,
    /// All addresses that it answers to, in addition to the local address of a connection.
    known: Vec<BaseUrl>,
    /// Other origins whose pages may use the protocol.
    guests: Vec<String>,
}

impl Addresses {
    /// The addresses of a server that listens at `listens`. `public`: the address of a tunnel or proxy in front of it.
    pub fn new(listens: SocketAddr, public: Option<BaseUrl>, guests: &[BaseUrl]) -> Addresses {
        let port = listens.port();
        let mut known = vec![BaseUrl::http("127.0.0.1", port), BaseUrl::http("localhost", port)];
        if listens.ip().is_unspecified() {
            known.extend(local_addresses().into_iter().map(|ip| BaseUrl::of_address(SocketAddr::new(ip, port))));
            known.extend(own_name().map(|name| BaseUrl::http(&format!("{name}.local"), port)));
        } else {
            known.push(BaseUrl::of_address(listens));
        }
        let lan = || known.iter().skip(2).find(|known| !known.authority.starts_with("127.")).cloned();
        let shared = public.clone().or_else(lan).unwrap_or_else(|| known[0].clone());
        known.extend(public);
        Addresses { port, shared, known, guests: guests.iter().map(BaseUrl::origin).collect() }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address on this computer.
    pub fn own(&self) -> BaseUrl {
        BaseUrl::http("127.0.0.1", self.port)
    }

    /// The address for everybody else.
    pub fn shared(&self) -> &BaseUrl {
        &self.shared
    }

    /// The other network addresses of the server.
    pub fn further(&self) -> impl Iterator<Item = &BaseUrl> {
        let own = [BaseUrl::http("127.0.0.1", self.port), BaseUrl::http("localhost", self.port)];
        self.known.iter().filter(move |known| **known != self.shared && !own.contains(known))
    }

    /// True if a request with this `Host` is meant for this server. `reached`: the local address of its connection.
    pub(crate) fn answers_to(&self, host: &str, reached: SocketAddr) -> bool {
        let is = |known: &BaseUrl| {
            // A client may write the default port of the scheme.
            let default = if known.scheme == "https" { ":443" } else { ":80" };
            host.eq_ignore_ascii_case(&known.authority)
                || host.strip_suffix(default).is_some_and(|host| host.eq_ignore_ascii_case(&known.authority))
        };
        self.known.iter().any(is) || is(&BaseUrl::of_address(reached))
    }

    /// True if a request with this `Origin` comes from the page of this server.
    pub(crate) fn is_own_origin(&self, origin: &str, reached: SocketAddr) -> bool {
        self.known.iter().any(|known| known.origin() == origin) || BaseUrl::of_address(reached).origin() == origin
    }

    /// True if pages of this origin are allowed.
    pub(crate) fn is_guest(&self, origin: &str) -> bool {
        self.guests.iter().any(|guest| guest == origin)
    }
}

/// The network addresses of this computer, the most likely one for phones first. Those of containers are left out.
fn local_addresses() -> Vec<IpAddr> {
    let virtual_names = ["docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "cni", "flannel", "podman"];
    let mut found: Vec<IpAddr> = if_addrs::get_if_addrs()
        .unwrap_or_default()
        .into_iter()
        .filter(|interface| !virtual_names.iter().any(|name| interface.name.starts_with(name)))
        .map(|interface| interface.ip())
        .filter(|ip| matches!(ip, IpAddr::V4(ip) if !ip.is_loopback() && !ip.is_link_local() && !ip.is_unspecified()))
        .collect();
    // `sort_by_key` keeps the order of the system for equal keys.
    found.sort_by_key(|ip| !matches!(ip, IpAddr::V4(ip) if is_at_home(*ip)));
    found.dedup();
    found
}

fn is_at_home(ip: Ipv4Addr) -> bool {
    ip.is_private()
}

/// The host name of this computer, if it can be read.
fn own_name() -> Option<String> {
    let text =
        ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|path| std::fs::read_to_string(path).ok());
    let text = text.or_else(|| std::env::var("COMPUTERNAME").ok())?;
    let name = text.trim().split('.').next().unwrap_or_default().to_ascii_lowercase();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> String {
        text.parse::<BaseUrl>().map_or_else(|error| error.to_string(), |url| format!("{url} {}", url.host()))
    }

    #[test]
    fn an_address_is_a_scheme_a_name_and_a_port() {
        assert_eq!(url("https://Table.Example.org"), "https://table.example.org/ table.example.org");
        assert_eq!(url("https://t.example:443/"), "https://t.example/ t.example");
        assert_eq!(url("http://[::1]:7777"), "http://[::1]:7777/ [::1]:7777");
        for wrong in
            ["table.example.org", "https://", "https://a/b", "https://a:x", "https://a b", "http://u@a", "http://[::"]
        {
            assert!(wrong.parse::<BaseUrl>().is_err(), "{wrong}");
        }
    }
}
