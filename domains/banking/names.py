"""Names of people, firms, streets and towns from which the bank's records are drawn.

Every name is made up or common, none is a plain English word that a sentence could hold by chance, and none
belongs to somebody known. People of the shared base bank bear last names that are not in these lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIRST_NAMES: Final[tuple[str, ...]] = tuple(
    """
    Adele Adriana Alonzo Amara Anders Anika Annette Anton Arjun Astrid Beatriz Benita Bernard Bianca Brendan Bridget
    Camila Carlton Carmen Cedric Celeste Chandra Claudia Clifton Colette Corinne Cristina Curtis Damian Daniela Darnell
    Deborah Delia Denise Dennis Desmond Dolores Dominic Doreen Douglas Edgar Edith Eduardo Eileen Elaine Eleanor Elise
    Emeka Enrique Ernesto Estelle Esther Eugenia Evelyn Fabian Farah Felicia Fernando Fiona Florence Francine Gabriela
    Gareth Geraldine Gerard Gilbert Giselle Gloria Gordon Greta Gustavo Gwendolyn Hannah Harriet Hassan Helena Henrik
    Hideo Howard Ibrahim Imelda Ines Ingrid Irene Isabel Isaiah Ivan Jamila Janelle Javier Jerome Joanna Joaquin Jolene
    Josephine Judith Julian Kareem Karina Katrina Keith Kenji Kiran Kristen Lamar Latoya Leandro Leila Leon Leticia
    Lionel Loretta Lucia Luther Lydia Magnus Malik Marcela Marguerite Marisol Marlon Martina Maurice Mehmet Melissa
    Meredith Mireille Miriam Monique Nadia Naomi Natasha Neil Nestor Nicolette Nigel Noemi Norma Octavia Odessa Olga
    Omar Oscar Pamela Patricia Paula Philippa Priya Quentin Rachel Rafael Ramona Raymond Regina Renata Ricardo Roberta
    Roderick Rosalind Rosemarie Rupert Sabrina Salma Samira Serena Sergio Sheila Shirin Sidney Silvia Simone Sofia
    Stanley Stella Sunita Sylvester Tamara Tatiana Terrence Theodora Theresa Thomasina Tobias Tomas Ursula Valerie
    Vanessa Vernon Veronica Vikram Vincent Viviana Wallace Wanda Wendell Wilfred Winifred Xavier Yasmin Yolanda Yusuf
    Yvonne Zachary Zora
    """.split()
)

LAST_NAMES: Final[tuple[str, ...]] = tuple(
    """
    Abernathy Acheson Adebayo Aguilar Albrecht Almonte Amundsen Andrade Ansari Arceneaux Arellano Ashworth Aubert Avery
    Bachman Balakrishnan Baptiste Barragan Bartholomew Bastien Beauchamp Bednarek Belanger Benavides Bengtsson Bergstrom
    Bhandari Blanchard Boateng Bonaventura Bourque Brankovic Brennan Bruckner Buchholz Cabrera Callahan Camarillo
    Cardenas Carmichael Castellano Cavanaugh Cervantes Chaudhary Chisholm Christensen Cisneros Colquhoun Contreras
    Corrigan Costigan Dabrowski Dalgaard Davenport Delacroix Delgado Deshmukh Devereaux Diallo Dombrowski Donnelly
    Duquesne Dvorak Echeverria Eklund Ellingson Engstrom Escobedo Espinoza Fairbanks Falkenberg Farquhar Fernandes
    Figueroa Fitzsimmons Fontaine Forsberg Fredericks Friedrich Gallegos Galloway Gebhardt Ghosh Gilchrist Goldfarb
    Gonsalves Grabowski Granados Gunderson Gutierrez Haddad Halvorsen Hargreaves Haverford Hennessey Hernandez Hidalgo
    Hoffmeister Holloway Hutchinson Ibarra Ingersoll Iwasaki Jablonski Jaramillo Jernigan Johansen Kaczmarek Kaminski
    Kavanagh Kessler Khatri Kilpatrick Kinoshita Kirkpatrick Klein Kobayashi Kowalczyk Krishnan Kuznetsov Lachance
    Lagerfelt Lamoreaux Langston Larrabee Leclerc Lindqvist Lockhart Lombardi Lundgren Macaulay Machado Mahoney
    Maldonado Mancini Manzanares Marchetti Martindale Mascarenhas McAllister McCutcheon McElroy Medeiros Mendoza
    Middleton Mikkelsen Montague Moravec Mukherjee Mulvaney Nakagawa Narayanan Navarrete Nguyen Nielsen Novotny
    Obermeyer Ocampo Odonoghue Okafor Okonkwo Olufsen Ostrowski Palacios Panagos Papadakis Partington Pellegrino
    Pemberton Pettigrew Pfeiffer Pillai Pinheiro Prendergast Quintero Rahimi Rasmussen Redmond Reinholt Renaud
    Richardson Rodrigues Rosenthal Rousseau Rutherford Saavedra Salgado Sandoval Santangelo Schaefer Schneider
    Seligman Sepulveda Shaughnessy Shimizu Siddiqui Sokolov Sorensen Stavros Sundaram Swensen Szymanski Takahashi
    Talbot Tavares Thibodeaux Thorvald Tremblay Trevino Underhill Urbina Valenzuela Vandenberg Vargas Velasquez
    Verhoeven Villanueva Vasiliou Wadsworth Wakefield Weatherby Weinstock Whitcomb Wojcik Wolcott Yamamoto Yarbrough
    Yevtushenko Zambrano Zavala Zielinski Zimmermann
    """.split()
)

STREETS: Final[tuple[str, ...]] = tuple(
    f"{name} {kind}"
    for kind, names in {
        "Street": "Alder Birchwood Carlisle Dunmore Elmhurst Fenwick Garnet Hawthorn Juniper Larchmont Orchard Quincy",
        "Avenue": "Ashland Beaumont Clarendon Delmar Fairfax Greenleaf Humboldt Kenilworth Linden Montrose Prospect",
        "Road": "Bramley Coldwater Duckpond Farmstead Granger Hollis Millbrook Northgate Quarry Sawmill Turnpike",
        "Lane": "Applegate Bluebird Cobbler Foxglove Heather Meadowlark Partridge Primrose Thistle Willowbrook",
        "Drive": "Arrowhead Brookhaven Crestview Edgemont Glenmoor Lakeview Ridgefield Stonehenge Timberline Wexford",
        "Court": "Amherst Bellweather Cambria Devonshire Edinburgh Hampstead Kingsley Lancaster Tanager Winthrop",
    }.items()
    for name in names.split()
)

TOWNS: Final[tuple[tuple[str, str, str], ...]] = (
    ("Ashford Falls", "OH", "447"),
    ("Bellhaven", "PA", "176"),
    ("Briar Glen", "IL", "605"),
    ("Brookfield Heights", "NJ", "078"),
    ("Cedarville", "MI", "483"),
    ("Clear Fork", "IN", "469"),
    ("Coldbrook", "MA", "015"),
    ("Dunbarton", "NH", "032"),
    ("Eastlake Park", "WI", "531"),
    ("Elm Prairie", "MN", "553"),
    ("Fallbrook Mills", "MD", "217"),
    ("Glen Harbor", "CT", "064"),
    ("Granite Bluff", "VT", "054"),
    ("Harwick", "NY", "128"),
    ("Highmoor", "VA", "226"),
    ("Juniper Flats", "CO", "804"),
    ("Kettle Creek", "OR", "973"),
    ("Lakewood Springs", "FL", "327"),
    ("Larkin", "TN", "371"),
    ("Linden Grove", "NC", "278"),
    ("Maple Crossing", "KY", "402"),
    ("Marlow", "GA", "301"),
    ("Millersport", "WV", "254"),
    ("New Stratton", "ME", "042"),
    ("North Fenwick", "RI", "028"),
    ("Oakdale Ridge", "MO", "633"),
    ("Pine Hollow", "SC", "296"),
    ("Plainview Junction", "IA", "503"),
    ("Quarry Hill", "DE", "197"),
    ("Redstone", "UT", "840"),
    ("Rivermont", "AL", "352"),
    ("Sandy Point", "TX", "774"),
    ("Silver Bend", "WA", "985"),
    ("Stonebridge", "KS", "662"),
    ("Three Rivers Park", "OK", "731"),
    ("Westbury Landing", "AR", "722"),
)
"""Town, state, and the first three digits of its postal codes."""

MAIL_DOMAINS: Final[tuple[str, ...]] = ("inbox.example", "letterbox.example", "postal.example", "webmail.example")

AREA_CODES: Final[tuple[str, ...]] = tuple(f"{first}{last}" for first in ("37", "96") for last in range(10))
"""Area codes kept back from use, so that no number of ours rings a telephone."""

FIRM_STEMS: Final[tuple[str, ...]] = tuple(
    """
    Aldergate Amberley Arbormill Ashcombe Bayridge Birchall Bluestem Bramblewood Brightwater Calderbrook Castlemere
    Cedarline Claybourne Copperfield Cranmoor Crossmill Dovecote Eastmere Elderfield Fallowmere Fernhill Foxhollow
    Glenrock Goldenrod Greystone Hartwell Hazelton Heathcote Highfield Hollowell Ironbridge Kestrel Kingsmead Larkspur
    Longmeadow Mapleton Marlbrook Meadowbank Millrace Moorgate Northwick Oakhurst Osprey Palisade Pinecrest Quillby
    Ravensworth Ridgeway Rookwood Saltmarsh Sandpiper Silverbirch Springdale Stillwater Summerton Sycamore Tallgrass
    Thornbury Tidewater Underwood Wainscott Westmere Wheatfield Wildrose Willowmere Windrush Woodlark Wrenfield
    """.split()
)

FIRM_TRADES: Final[tuple[str, ...]] = (
    "Bakery Supply",
    "Building Materials",
    "Cabinet Works",
    "Catering",
    "Cold Storage",
    "Dental Supply",
    "Electrical",
    "Equipment Rental",
    "Fabrication",
    "Farm Supply",
    "Flooring",
    "Freight",
    "Furniture",
    "Garden Center",
    "Glassworks",
    "Hardware",
    "Heating and Cooling",
    "Joinery",
    "Landscaping",
    "Lighting",
    "Logistics",
    "Machine Shop",
    "Office Supply",
    "Packaging",
    "Paper Goods",
    "Plumbing",
    "Print House",
    "Produce",
    "Roofing",
    "Textiles",
    "Tile and Stone",
    "Timber",
    "Tool Hire",
    "Upholstery",
)

FIRM_SUFFIXES: Final[tuple[str, ...]] = ("Co", "Inc", "LLC", "and Partners")

MERCHANTS: Final[Mapping[str, tuple[str, ...]]] = {
    "groceries": (
        "Applecart Market",
        "Corner Pantry",
        "Fresh Acre Foods",
        "Harvest Lane Grocery",
        "Hometown Grocer",
        "Pennywise Foods",
    ),
    "fuel": ("Crossroads Fuel", "Pitstop Gas and Go", "Route Nine Fuel"),
    "dining": (
        "Blue Kettle Diner",
        "Casa Verbena",
        "Golden Wok Kitchen",
        "Little Anchor Coffee",
        "Paprika Grill",
        "Sunday Bagel",
        "Tin Roof Pizza",
    ),
    "shopping": (
        "Barn Door Books",
        "Bright Lane Pharmacy",
        "Cobblestone Shoes",
        "Fieldstone Outfitters",
        "Homestead Housewares",
        "Kite and Button Toys",
        "Pawprint Pet Supply",
        "Threadneedle Apparel",
        "Workbench Hardware",
    ),
    "subscription": (
        "Birdsong Audio",
        "Cinelane Streaming",
        "Cloudshelf Storage",
        "Flexwell Gym",
        "Morning Ledger News",
        "Puzzleworks Monthly",
        "Tempo Music",
        "Yoga Loft",
    ),
    "utility": (
        "Clearline Internet",
        "Municipal Water Service",
        "Northvale Electric",
        "Prairie Gas Company",
        "Signalpoint Mobile",
        "Stateline Insurance",
    ),
}
"""Merchants by what they sell."""

STAFF_TITLES: Final[tuple[str, ...]] = ("Branch supervisor", "Desk supervisor", "Shift supervisor")
